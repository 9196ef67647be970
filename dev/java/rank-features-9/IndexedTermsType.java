package umg.rankfeatures;

import java.util.Map;

import org.elasticsearch.index.mapper.IndexType;
import org.elasticsearch.index.mapper.MappedFieldType;

/** A field with indexed terms and nothing else, as Elasticsearch 9 describes it. */
abstract class IndexedTermsType extends MappedFieldType {

    IndexedTermsType(String name, Map<String, String> meta) {
        super(name, IndexType.terms(true, false), false, meta);
    }
}
