package umg.rankfeatures;

import java.util.List;
import java.util.Map;

import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.index.mapper.Mapper;
import org.elasticsearch.plugins.MapperPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.plugins.SearchPlugin;
import org.elasticsearch.rest.RestHandler;

/**
 * What the Elasticsearch test node gets from us, since Maven does not serve the modules that bring it.
 *
 * <p>Written from Elastic's public documentation of the field type and the query, and from Lucene's FeatureField.
 */
abstract class RankFeatures extends Plugin implements MapperPlugin, SearchPlugin {

    private ClusterService cluster;

    @Override
    public List<?> createComponents(PluginServices services) {
        cluster = services.clusterService();
        return List.of();
    }

    @Override
    public Map<String, Mapper.TypeParser> getMappers() {
        return Map.of(FeaturesMapper.TYPE, FeaturesMapper.PARSER);
    }

    @Override
    public List<QuerySpec<?>> getQueries() {
        return List.of(new QuerySpec<>(FeatureQuery.NAME, FeatureQuery::new, FeatureQuery::parse));
    }

    final List<RestHandler> handlers() {
        return List.of(new RootHandler(() -> cluster));
    }
}
