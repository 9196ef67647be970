package umg.rankfeatures;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;

import org.elasticsearch.Build;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.xcontent.XContentBuilder;

/** Answers {@code GET /} and {@code HEAD /}, by which clients recognise the server and its version. */
final class RootHandler extends BaseRestHandler {

    private final Supplier<ClusterService> cluster;

    RootHandler(Supplier<ClusterService> cluster) {
        this.cluster = cluster;
    }

    @Override
    public String getName() {
        return "root";
    }

    @Override
    public List<Route> routes() {
        return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
        return channel -> channel.sendResponse(new RestResponse(RestStatus.OK, write(channel.newBuilder())));
    }

    private XContentBuilder write(XContentBuilder builder) throws IOException {
        ClusterService service = cluster.get();
        builder.startObject();
        builder.field("name", service.getNodeName());
        builder.field("cluster_name", service.getClusterName().value());
        builder.field("cluster_uuid", service.state().metadata().clusterUUID());
        writeVersion(builder.startObject("version")).endObject();
        return builder.field("tagline", "You Know, for Search").endObject();
    }

    private static XContentBuilder writeVersion(XContentBuilder builder) throws IOException {
        Build build = Build.current();
        return builder.field("number", build.qualifiedVersion())
            .field("build_flavor", "default")
            .field("build_type", build.type().displayName())
            .field("build_hash", build.hash())
            .field("build_date", build.date())
            .field("build_snapshot", build.isSnapshot())
            .field("lucene_version", IndexVersion.current().luceneVersion().toString())
            .field("minimum_wire_compatibility_version", build.minWireCompatVersion())
            .field("minimum_index_compatibility_version", build.minIndexCompatVersion());
    }
}
