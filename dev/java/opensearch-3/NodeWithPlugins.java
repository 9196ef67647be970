import java.util.List;

import org.opensearch.Version;
import org.opensearch.analysis.common.CommonAnalysisModulePlugin;
import org.opensearch.env.Environment;
import org.opensearch.index.mapper.MapperExtrasModulePlugin;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessModulePlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.PluginInfo;
import org.opensearch.transport.Netty4ModulePlugin;

/** An OpenSearch 3.x node with the plugins that are on the class path. */
final class NodeWithPlugins extends Node {

    NodeWithPlugins(Environment environment) {
        super(
            environment,
            List.of(
                info(Netty4ModulePlugin.class),
                info(MapperExtrasModulePlugin.class),
                info(CommonAnalysisModulePlugin.class),
                info(PainlessModulePlugin.class),
                info(KNNPlugin.class)
            ),
            true
        );
    }

    private static PluginInfo info(Class<? extends Plugin> plugin) {
        String name = plugin.getName();
        String java = Integer.toString(Runtime.version().feature());
        return new PluginInfo(name, "on the class path", "1", Version.CURRENT, java, name, null, List.of(), false);
    }
}
