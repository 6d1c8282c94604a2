// How the console is built: into the server's package, typed and bundled from the client's sources.
import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = process.env.RECOUP_SERVER ?? 'http://127.0.0.1:7420';
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: { conditions: ['recoup-source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: resolve(import.meta.dirname, '../server/dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // A policy without inline content: no data URLs for scripts, no polyfill script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': proxied, '/console': proxied } },
  logLevel: 'warn',
});
