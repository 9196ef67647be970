import java.util.Map;

import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;

/** Starts one OpenSearch node from a flat class path; each argument is a setting, {@code key=value}. */
public final class OpenSearchNode {

    private OpenSearchNode() {}

    public static void main(String[] args) throws Exception {
        Settings.Builder settings = Settings.builder();
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        Environment environment = InternalSettingsPreparer.prepareEnvironment(
            settings.build(), Map.of(), null, () -> "node"
        );
        Node node = new NodeWithPlugins(environment);
        node.start();
        Lifetime.of(node);
    }
}
