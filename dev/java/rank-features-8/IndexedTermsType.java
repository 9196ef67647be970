package umg.rankfeatures;

import java.util.Map;

import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.TextSearchInfo;

/** A field with indexed terms and nothing else, as Elasticsearch 8 describes it. */
abstract class IndexedTermsType extends MappedFieldType {

    IndexedTermsType(String name, Map<String, String> meta) {
        super(name, true, false, false, TextSearchInfo.NONE, meta);
    }
}
