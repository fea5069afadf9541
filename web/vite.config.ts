import react from '@vitejs/plugin-react';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const server = process.env.ANTIPHON_URL ?? 'http://127.0.0.1:8888';
const api = ['/agents', '/sessions', '/runs', '/responses', '/healthz'];

// Paths are relative, so that the page also works where a server is nested under a prefix. The
// polyfill for module preloading is left out: every browser that the page supports preloads by itself.
export default defineConfig({
  base: './',
  plugins: [react()],
  resolve: { alias: { '@ag-ui/proto': fileURLToPath(new URL('build/no-protobuf.ts', import.meta.url)) } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: Object.fromEntries(api.map((path) => [path, server])) },
});
