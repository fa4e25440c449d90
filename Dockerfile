FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN npm run build

# Only the bundle: no packages, no sources. It writes no files, so the root file system may be read-only.
FROM node:24-slim
WORKDIR /app
COPY LICENSE ./
# Beside the bundle, package.json tells Node that it is an ES module.
COPY --from=build /src/package.json ./
COPY --from=build /src/dist/mirror-controller.js dist/
# The image's user "node", by number so that Kubernetes can verify runAsNonRoot.
USER 1000:1000
ENTRYPOINT ["node", "/app/dist/mirror-controller.js"]
CMD ["run"]
