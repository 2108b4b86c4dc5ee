import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { defineConfig, type Plugin } from 'vite';

// Each file compressed, too: build_page.cmake puts both forms into the program.
function compressed(): Plugin {
  let folder = 'dist';
  const all = (at: string): string[] =>
    readdirSync(at).flatMap((name) => (statSync(join(at, name)).isDirectory() ? all(join(at, name)) : [join(at, name)]));
  return {
    name: 'compressed',
    apply: 'build',
    configResolved: (config) => void (folder = config.build.outDir),
    closeBundle: () => {
      for (const file of all(folder)) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    },
  };
}

// The page is served by the daemon from "/", and takes nothing from elsewhere.
export default defineConfig({
  plugins: [compressed()],
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
