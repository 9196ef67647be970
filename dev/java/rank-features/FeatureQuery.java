package umg.rankfeatures;

import java.io.IOException;
import java.util.Objects;

import org.apache.lucene.document.FeatureField;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.elasticsearch.TransportVersion;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.xcontent.ConstructingObjectParser;
import org.elasticsearch.xcontent.ObjectParser;
import org.elasticsearch.xcontent.ParseField;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

/** The rank_feature query with the linear function: the score is the value of the feature times the boost. */
final class FeatureQuery extends LuceneQueryBuilder<FeatureQuery> {

    static final String NAME = "rank_feature";

    private static final ParseField FIELD = new ParseField("field");
    private static final ParseField LINEAR = new ParseField("linear");
    private static final ObjectParser<Boolean, Void> LINEAR_PARSER = new ObjectParser<>("linear", () -> true);
    private static final ConstructingObjectParser<FeatureQuery, Void> PARSER = new ConstructingObjectParser<>(
        NAME, args -> new FeatureQuery((String) args[0])
    );

    static {
        PARSER.declareString(ConstructingObjectParser.constructorArg(), FIELD);
        // Required, since without it the stock query takes another function, which this one lacks.
        PARSER.declareObject(ConstructingObjectParser.constructorArg(), LINEAR_PARSER, LINEAR);
        declareStandardFields(PARSER);
    }

    private final String field;

    FeatureQuery(String field) {
        this.field = field;
    }

    FeatureQuery(StreamInput in) throws IOException {
        super(in);
        field = in.readString();
    }

    static FeatureQuery parse(XContentParser parser) throws IOException {
        return PARSER.parse(parser, null);
    }

    @Override
    Query luceneQuery(SearchExecutionContext context) {
        int dot = field.lastIndexOf('.');
        MappedFieldType parent = dot < 0 ? null : context.getFieldType(field.substring(0, dot));
        if (parent instanceof FeaturesType) {
            // The boost is added by the caller, around this query: Lucene's own weight ends at 64.
            return FeatureField.newLinearQuery(parent.name(), field.substring(dot + 1), 1f);
        }
        if (context.getFieldType(field) != null) {
            throw new IllegalArgumentException(
                "[rank_feature] query works on features of [rank_features] fields, not on [" + field + "]"
            );
        }
        return new MatchNoDocsQuery("field [" + field + "] is not mapped");
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeString(field);
    }

    @Override
    protected void doXContent(XContentBuilder builder, Params params) throws IOException {
        builder.startObject(NAME).field(FIELD.getPreferredName(), field);
        builder.startObject(LINEAR.getPreferredName()).endObject();
        boostAndQueryNameToXContent(builder);
        builder.endObject();
    }

    @Override
    protected boolean doEquals(FeatureQuery other) {
        return field.equals(other.field);
    }

    @Override
    protected int doHashCode() {
        return Objects.hash(field);
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }

    @Override
    public TransportVersion getMinimalSupportedVersion() {
        return TransportVersion.zero();
    }
}
