import { expect, test } from "vitest"
import { publishedManifest } from "./manifest.ts"

test("paths to sources become paths to bundled files", () => {
  const published = publishedManifest({
    name: "@strata/thing",
    version: "1.2.3",
    license: "MIT",
    exports: {
      ".": "./src/index.ts",
      "./view": "./src/view/app.tsx",
      "./package.json": "./package.json",
    },
    bin: { thing: "./src/main.ts" },
    scripts: { test: "vitest" },
    dependencies: { diff: "9.0.0" },
    devDependencies: { vitest: "5.1.0" },
  })
  expect(published).toEqual({
    name: "@strata/thing",
    version: "1.2.3",
    license: "MIT",
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./view": { types: "./dist/view/app.d.ts", default: "./dist/view/app.js" },
      "./package.json": "./package.json",
    },
    bin: { thing: "./dist/main.js" },
    dependencies: { diff: "9.0.0" },
    files: ["dist"],
    publishConfig: { access: "public" },
  })
  expect(Object.keys((published.exports as Record<string, object>)["."]!)[0]).toBe("types")
})

test("an entry that is not a source file is refused", () => {
  const manifest = { name: "thing", version: "1.0.0", exports: { ".": "./lib/index.ts" } }
  expect(() => publishedManifest(manifest)).toThrow("./lib/index.ts is not a source file")
})
