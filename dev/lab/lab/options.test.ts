import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { parseLabOptions } from "./options.ts"

const folder = fileURLToPath(new URL(".", import.meta.url))
const file = fileURLToPath(import.meta.url)

describe("BEY-7 what the lab is asked for", () => {
  it("takes names of policies, also of Strata with other settings", () => {
    expect(parseLabOptions(["--policies", "strata, strata-not-warmed", "--short", folder])).toEqual({
      sets: [{ folder, policies: ["strata", "strata-not-warmed"] }],
      max: 4,
      isDocumented: false,
    })
  })

  it("generates work on request", () => {
    expect(parseLabOptions(["--generated"])).toMatchObject({ sets: [{ folder: undefined }], isDocumented: false })
  })

  it.each([
    [["--policies", "stratta"], 'There is no policy "stratta". The policies are none, '],
    [["--policies", ","], "--policies needs at least one name"],
    [["/no/such/folder"], "There is no folder /no/such/folder."],
    [[file], "is a file. Name the folder that has it"],
    [["--json", "/no/such/folder/a.json", folder], "a.json cannot be written. Choose another file"],
    [["--policy", "strata"], "Unknown option '--policy'. The call is: npm run lab -- "],
  ])("answers %j with a sentence, before any work", (args, sentence) => {
    expect(() => parseLabOptions(args)).toThrow(sentence)
  })
})
