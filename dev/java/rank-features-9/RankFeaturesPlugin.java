package umg.rankfeatures;

import java.util.Collection;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.rest.RestHandler;

/** The module as Elasticsearch 9 loads it. */
public final class RankFeaturesPlugin extends RankFeatures implements ActionPlugin {

    @Override
    public Collection<RestHandler> getRestHandlers(
        RestHandlersServices services, Supplier<DiscoveryNodes> nodes, Predicate<NodeFeature> features
    ) {
        return handlers();
    }
}
