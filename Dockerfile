# syntax=docker/dockerfile:1
# Two stages: a build with the Swift toolchain, and an image with one binary and the libraries that it is linked to. The
# image has no shell and runs as an unprivileged user. Scripts/image builds and checks it without Docker.

# The base image can be any Debian with a Swift toolchain.
ARG BUILD_IMAGE=swift:6.3-bookworm
FROM ${BUILD_IMAGE} AS build
# Headers and libraries for the targets SQLite, Text, HTTPServer, CXXHash and CYAML.
# pkg-config tells SwiftPM where they are. ca-certificates has the certificate authorities that the image trusts.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
    libsqlite3-dev libicu-dev libre2-dev zlib1g-dev libxxhash-dev libyaml-dev pkg-config ca-certificates \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY Package.swift openapi.yaml ./
COPY Sources ./Sources
# SwiftPM requires the directories of all targets in the manifest; tests are not built.
COPY Tests ./Tests
# The cache keeps fetched and built packages for the next build. The linker omits two symbol tables: the one for
# debuggers, and the dynamic one for libraries at run time that call the program; none does.
RUN --mount=type=cache,target=/build/.build \
    swift build -c release --product hotel-bookmarks --static-swift-stdlib \
      -Xlinker -s -Xlinker --no-export-dynamic \
 && install -D .build/release/hotel-bookmarks /image/usr/local/bin/hotel-bookmarks
# Copies the linked libraries and the loader, each to its own path.
RUN ldd /image/usr/local/bin/hotel-bookmarks | grep -o '/[^ ]*' | xargs cp --dereference --parents --target-directory=/image \
 && install -D -m 644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt \
 && echo 'root:x:0:0:root:/:/sbin/nologin' >/image/etc/passwd \
 && echo 'hotel-bookmarks:x:10001:10001::/var/lib/hotel-bookmarks:/sbin/nologin' >>/image/etc/passwd \
 && printf 'root:x:0:\nhotel-bookmarks:x:10001:\n' >/image/etc/group \
 && echo 'hosts: files dns' >/image/etc/nsswitch.conf \
 && mkdir -p /image/var/lib /volume/hotel-bookmarks \
 && chmod 700 /volume/hotel-bookmarks

# With --build-arg DATABASE=1 the image also has libpq and the libraries that it needs, for `serve --database`. They are
# 6 MB when compressed.
ARG DATABASE=
RUN if [ -n "$DATABASE" ]; then \
      apt-get update && apt-get install -y --no-install-recommends libpq5 \
      && libpq=$(ldconfig -p | grep -o '/[^ ]*libpq\.so\.5$') \
      && { echo "$libpq"; ldd "$libpq" | grep -o '/[^ ]*'; } \
        | xargs cp --dereference --parents --target-directory=/image; \
    fi

FROM scratch
COPY --from=build /image/ /
# The volume: an empty directory that the user owns.
COPY --from=build --chown=10001:10001 /volume/ /var/lib/
USER 10001:10001
ENV PATH=/usr/local/bin \
    HOTEL_BOOKMARKS_HOSTNAME=0.0.0.0 \
    HOTEL_BOOKMARKS_DATA=/var/lib/hotel-bookmarks/data \
    HOTEL_BOOKMARKS_LOG_FORMAT=json \
    HOTEL_BOOKMARKS_DRAIN_SECONDS=5
VOLUME /var/lib/hotel-bookmarks
EXPOSE 8080
# Only Docker's image format has health checks; with the OCI format, compose.yaml sets it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["hotel-bookmarks", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["hotel-bookmarks"]
CMD ["serve"]
