FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN npm run build
# This Node knows every engine flag that we set (src/v8-flags.ts): what it does not know it names on stderr, at each start.
RUN test -z "$(node dist/mirror-controller.js --version 2>&1 >/dev/null)"

# Only the bundle: no packages, no sources. It writes no files, so the root file system may be read-only.
FROM node:24-slim
WORKDIR /app
COPY LICENSE ./
# Beside the bundle, package.json tells Node that it is an ES module.
COPY --from=build /src/package.json ./
COPY --from=build /src/dist/mirror-controller.js dist/
# What is freed goes back to the system from 128 KiB on, glibc's documented default. Unless it is set, glibc raises it to twice
# the largest buffer that was ever freed, and the first to be freed holds the whole bundle: of each thread that compiles up to
# 2.6 MB stay with us (https://man7.org/linux/man-pages/man3/mallopt.3.html; docs/performance.md).
ENV MALLOC_TRIM_THRESHOLD_=131072
# The image's user "node", by number so that Kubernetes can verify runAsNonRoot.
USER 1000:1000
ENTRYPOINT ["node", "/app/dist/mirror-controller.js"]
CMD ["run"]
