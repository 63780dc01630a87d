# syntax=docker/dockerfile:1
# Two stages: a build with the Swift toolchain, and a slim image that runs the one binary as nobody special.

FROM swift:6.3-bookworm AS build
# Headers and libraries for the targets SQLite, ICU, RegularExpressions and Compression; pkg-config: SwiftPM finds them by that.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libsqlite3-dev libicu-dev libre2-dev zlib1g-dev pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# The manifest alone first, so that dependencies are fetched again only when it changes.
COPY Package.swift ./
RUN swift package resolve
COPY openapi.yaml ./
COPY Sources ./Sources
# SwiftPM wants every target of the manifest to be there; tests are not built.
COPY Tests ./Tests
RUN swift build -c release --product hotel-bookmarks --static-swift-stdlib \
 && install -D "$(swift build -c release --show-bin-path)/hotel-bookmarks" /out/hotel-bookmarks \
 && strip /out/hotel-bookmarks

FROM debian:bookworm-slim
# The four libraries; ca-certificates: an upstream over https; tzdata is not needed, times are UTC.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libsqlite3-0 libicu72 libre2-9 zlib1g ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /var/lib/hotel-bookmarks --create-home hotel-bookmarks
COPY --from=build /out/hotel-bookmarks /usr/local/bin/hotel-bookmarks
USER 10001
ENV HOTEL_BOOKMARKS_HOSTNAME=0.0.0.0 \
    HOTEL_BOOKMARKS_DATA=/var/lib/hotel-bookmarks/data \
    HOTEL_BOOKMARKS_LOG_FORMAT=json
VOLUME /var/lib/hotel-bookmarks
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["hotel-bookmarks", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["hotel-bookmarks"]
CMD ["serve"]
