package org.opensearch.protobufs;

/** Stands in for the generated type of the gRPC transport, which the k-NN plugin refers to. */
public final class QueryContainer {

    /** The kinds of query, of which none is needed without gRPC. */
    public enum QueryContainerCase {}
}
