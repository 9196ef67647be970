package umg.rankfeatures;

import java.io.IOException;

import org.apache.lucene.search.Query;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.internal.MaxClauseCountQueryVisitor;

/** A query that becomes one Lucene query, as Elasticsearch 9 asks for it. */
abstract class LuceneQueryBuilder<Q extends LuceneQueryBuilder<Q>> extends AbstractQueryBuilder<Q> {

    LuceneQueryBuilder() {}

    LuceneQueryBuilder(StreamInput in) throws IOException {
        super(in);
    }

    abstract Query luceneQuery(SearchExecutionContext context);

    @Override
    protected final Query doToQuery(SearchExecutionContext context, MaxClauseCountQueryVisitor clauses) {
        return luceneQuery(context);
    }
}
