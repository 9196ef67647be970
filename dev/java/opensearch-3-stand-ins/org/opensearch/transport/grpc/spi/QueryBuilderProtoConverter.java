package org.opensearch.transport.grpc.spi;

/** Stands in for the type of the gRPC transport, which Maven does not serve and the k-NN plugin refers to. */
public interface QueryBuilderProtoConverter {}
