import { expect, test } from "vitest"
import { metadataOf } from "./metadata.ts"
import { publishedPackages } from "./packages.ts"

test.each(publishedPackages())("$manifest.name says what it is and where it comes from", ({ folder, manifest }) => {
  expect(manifest, "npm run metadata writes the addresses").toMatchObject(metadataOf(folder))
  expect(manifest.description).toMatch(/\w/)
  expect(manifest.license).toBe("MIT")
  expect(manifest.keywords).toEqual(expect.arrayContaining([expect.stringMatching(/^[a-z-]+$/)]))
})
