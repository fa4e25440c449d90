# On the builder's own platform: the bundle is the same for all, and the image's own stage runs nothing.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN npm run build
# Fails if this Node does not know an engine flag that src/v8-flags.ts sets: it would name it on stderr at every start.
RUN test -z "$(node dist/mirror-controller.js --version 2>&1 >/dev/null)"

# Only the bundle, no packages or sources. It writes no files, so the root file system may be read-only.
FROM node:24-slim
# The release workflow adds version, revision and source.
LABEL org.opencontainers.image.title="mirror-controller" \
      org.opencontainers.image.description="Keeps copies of ConfigMaps, without a CRD" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
COPY LICENSE ./
# Tells Node that the bundle is an ES module.
COPY --from=build /src/package.json ./
COPY --from=build /src/dist/mirror-controller.js dist/
# glibc returns freed memory to the system from this size (bytes) on. This is its documented default. Unless set, it rises to
# twice the largest buffer ever freed, and the first such buffer holds the whole bundle, so memory would stay allocated
# (https://man7.org/linux/man-pages/man3/mallopt.3.html).
ENV MALLOC_TRIM_THRESHOLD_=131072
# The user "node". By number, so that Kubernetes can check runAsNonRoot.
USER 1000:1000
ENTRYPOINT ["node", "/app/dist/mirror-controller.js"]
CMD ["run"]
