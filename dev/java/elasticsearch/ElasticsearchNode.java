import java.util.Map;
import java.util.Set;

import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/** Starts one Elasticsearch node with the modules of its home; each argument is a setting, {@code key=value}. */
public final class ElasticsearchNode {

    private ElasticsearchNode() {}

    public static void main(String[] args) throws Exception {
        LogConfigurator.configureESLogging();
        Settings.Builder settings = Settings.builder();
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        Environment environment = InternalSettingsPreparer.prepareEnvironment(
            settings.build(), Map.of(), null, () -> "node"
        );
        PluginsLoader plugins = PluginsLoader.createPluginsLoader(
            ModuleBundles.of(environment), Set.of(), Map.of(), false
        );
        Node node = new Node(environment, plugins);
        node.start();
        Lifetime.of(node);
    }
}
