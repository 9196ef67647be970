import java.util.List;

import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.env.Environment;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.transport.Netty4Plugin;

/** An OpenSearch 2.x node with the plugins that are on the class path. */
final class NodeWithPlugins extends Node {

    NodeWithPlugins(Environment environment) {
        super(
            environment,
            List.of(
                Netty4Plugin.class,
                MapperExtrasPlugin.class,
                CommonAnalysisPlugin.class,
                PainlessPlugin.class,
                KNNPlugin.class
            ),
            true
        );
    }
}
