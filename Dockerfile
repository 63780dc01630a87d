# syntax=docker/dockerfile:1
# Two stages: a build with the Swift toolchain, and an image of one binary, the libraries that it is linked to, and no
# shell, that runs as nobody special. Scripts/image builds and checks it without Docker.

# Any Debian with a Swift toolchain.
ARG BUILD_IMAGE=swift:6.3-bookworm
FROM ${BUILD_IMAGE} AS build
# Headers and libraries for the targets SQLite, ICU, RegularExpressions, Compression, CXXHash, CYAML and CPostgres; pkg-config: SwiftPM finds them
# by that; ca-certificates: the authorities that the image trusts.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
    libsqlite3-dev libicu-dev libre2-dev zlib1g-dev libxxhash-dev libyaml-dev libpq-dev pkg-config ca-certificates \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY Package.swift openapi.yaml ./
COPY Sources ./Sources
# SwiftPM wants every target of the manifest to be there; tests are not built.
COPY Tests ./Tests
# The cache keeps fetched and built packages from one build to the next. The linker leaves out the names of symbols:
# those for debuggers, and those for libraries that a program loads later, which this one never does.
RUN --mount=type=cache,target=/build/.build \
    swift build -c release --product hotel-bookmarks --static-swift-stdlib \
      -Xlinker -s -Xlinker --no-export-dynamic \
 && install -D .build/release/hotel-bookmarks /image/usr/local/bin/hotel-bookmarks
# What the binary is linked to, with the loader, each at its own path.
RUN ldd /image/usr/local/bin/hotel-bookmarks | grep -o '/[^ ]*' | xargs cp --dereference --parents --target-directory=/image \
 && install -D -m 644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt \
 && echo 'root:x:0:0:root:/:/sbin/nologin' >/image/etc/passwd \
 && echo 'hotel-bookmarks:x:10001:10001::/var/lib/hotel-bookmarks:/sbin/nologin' >>/image/etc/passwd \
 && printf 'root:x:0:\nhotel-bookmarks:x:10001:\n' >/image/etc/group \
 && echo 'hosts: files dns' >/image/etc/nsswitch.conf \
 && mkdir -p /image/var/lib /volume/hotel-bookmarks \
 && chmod 700 /volume/hotel-bookmarks

FROM scratch
COPY --from=build /image/ /
# The volume: an empty directory of the user's.
COPY --from=build --chown=10001:10001 /volume/ /var/lib/
USER 10001:10001
ENV PATH=/usr/local/bin \
    HOTEL_BOOKMARKS_HOSTNAME=0.0.0.0 \
    HOTEL_BOOKMARKS_DATA=/var/lib/hotel-bookmarks/data \
    HOTEL_BOOKMARKS_LOG_FORMAT=json \
    HOTEL_BOOKMARKS_DRAIN_SECONDS=5
VOLUME /var/lib/hotel-bookmarks
EXPOSE 8080
# Part of the image in Docker's format only: an image in OCI's takes it from compose.yaml.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["hotel-bookmarks", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["hotel-bookmarks"]
CMD ["serve"]
