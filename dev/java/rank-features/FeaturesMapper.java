package umg.rankfeatures;

import java.io.IOException;
import java.util.Map;

import org.apache.lucene.document.FeatureField;
import org.elasticsearch.index.mapper.DocumentParserContext;
import org.elasticsearch.index.mapper.FieldMapper;
import org.elasticsearch.index.mapper.MapperBuilderContext;
import org.elasticsearch.xcontent.XContentParser.Token;

/** Maps an object of features and strictly positive values to one Lucene feature each. */
final class FeaturesMapper extends FieldMapper {

    static final String TYPE = "rank_features";
    static final TypeParser PARSER = new TypeParser((name, context) -> new Builder(name));

    private FeaturesMapper(String name, FeaturesType type, BuilderParams params) {
        super(name, type, params);
    }

    /** Reads the mapping, which has no parameters of its own. */
    static final class Builder extends FieldMapper.Builder {

        private final Parameter<Map<String, String>> meta = Parameter.metaParam();

        Builder(String name) {
            super(name);
        }

        @Override
        protected Parameter<?>[] getParameters() {
            return new Parameter<?>[] { meta };
        }

        // No @Override: Elasticsearch 9 asks for it, 8 does not know it.
        public String contentType() {
            return TYPE;
        }

        @Override
        public FeaturesMapper build(MapperBuilderContext context) {
            FeaturesType type = new FeaturesType(context.buildFullName(leafName()), meta.getValue());
            return new FeaturesMapper(leafName(), type, builderParams(this, context));
        }
    }

    @Override
    protected boolean supportsParsingObject() {
        return true;
    }

    @Override
    protected void parseCreateField(DocumentParserContext context) throws IOException {
        if (context.parser().currentToken() != Token.START_OBJECT) {
            throw new IllegalArgumentException(
                "[rank_features] field [" + fullPath() + "] takes an object of features and values, not "
                    + context.parser().currentToken()
            );
        }
        // Otherwise the parser turns a dot in a feature's name into one more object.
        context.path().setWithinLeafObject(true);
        try {
            while (context.parser().nextToken() == Token.FIELD_NAME) {
                String feature = context.parser().currentName();
                context.parser().nextToken();
                parseValue(context, feature);
            }
        } finally {
            context.path().setWithinLeafObject(false);
        }
    }

    private void parseValue(DocumentParserContext context, String feature) throws IOException {
        switch (context.parser().currentToken()) {
            case VALUE_NULL -> {}
            case VALUE_NUMBER, VALUE_STRING -> add(context, feature, context.parser().floatValue());
            default -> throw new IllegalArgumentException(
                "feature [" + feature + "] of [" + fullPath() + "] takes a number, not "
                    + context.parser().currentToken()
            );
        }
    }

    private void add(DocumentParserContext context, String feature, float value) {
        if (feature.contains(".")) {
            // A query names a feature as field.feature, so a dotted one could not be told from a deeper field.
            throw new IllegalArgumentException(
                "[rank_features] fields take no feature with a dot in its name, but got [" + feature + "]"
            );
        }
        String key = fullPath() + "." + feature;
        if (context.doc().getByKey(key) != null) {
            throw new IllegalArgumentException("feature [" + feature + "] of [" + fullPath() + "] has several values");
        }
        // Lucene refuses what is not finite and strictly positive.
        context.doc().addWithKey(key, new FeatureField(fullPath(), feature, value));
    }

    @Override
    protected String contentType() {
        return TYPE;
    }

    @Override
    public FieldMapper.Builder getMergeBuilder() {
        return new Builder(leafName()).init(this);
    }
}
