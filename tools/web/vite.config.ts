import { defineConfig } from 'vite';

// The page is served by the daemon from "/", and takes nothing from elsewhere.
export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: false, reportCompressedSize: true },
  // For work on the page: `npx vite` here, and a lab at this address (see README.md).
  server: {
    proxy: {
      '/v1': {
        target: 'http://127.0.0.1:8421',
        changeOrigin: true,
        headers: { Origin: 'http://127.0.0.1:8421' },
      },
    },
  },
});
