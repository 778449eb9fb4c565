import { expect, it } from "vitest"
import { optionalPackage } from "./files.ts"

it("a package that is not installed is named, with the command that installs it", async () => {
  await expect(optionalPackage("@strata/not-installed", "Dragons need")).rejects.toMatchObject({
    message: "Dragons need the package @strata/not-installed. Install it: npm install @strata/not-installed",
    code: "package-missing",
  })
  await expect(optionalPackage("zod", "Schemas need")).resolves.toHaveProperty("z")
})
