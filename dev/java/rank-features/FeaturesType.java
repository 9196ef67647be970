package umg.rankfeatures;

import java.util.Map;

import org.apache.lucene.search.Query;
import org.elasticsearch.index.mapper.SourceValueFetcher;
import org.elasticsearch.index.mapper.ValueFetcher;
import org.elasticsearch.index.query.SearchExecutionContext;

/** The searchable side of a rank_features field: only the rank_feature query asks it. */
final class FeaturesType extends IndexedTermsType {

    FeaturesType(String name, Map<String, String> meta) {
        super(name, meta);
    }

    @Override
    public String typeName() {
        return FeaturesMapper.TYPE;
    }

    @Override
    public ValueFetcher valueFetcher(SearchExecutionContext context, String format) {
        return SourceValueFetcher.identity(name(), context, format);
    }

    @Override
    public Query existsQuery(SearchExecutionContext context) {
        throw new IllegalArgumentException("[rank_features] fields do not support [exists] queries");
    }

    @Override
    public Query termQuery(Object value, SearchExecutionContext context) {
        throw new IllegalArgumentException("[rank_features] fields support no query but [rank_feature]");
    }
}
