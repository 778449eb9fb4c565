import { describe, expect, test } from "vitest"
import * as z from "zod/v4"
import { checkToolInput, invalidInputResult } from "./tool-input.ts"

const schema = z.object({ file_path: z.string(), limit: z.number().default(2000) })

describe("MSG-3 tool inputs", () => {
  test("unknown keys are removed and defaults filled in for the tool; the model's own input stays", async () => {
    const input = { file_path: "a.ts", nonsense: true }
    expect(await checkToolInput(schema, input)).toEqual({ state: "valid", input: { file_path: "a.ts", limit: 2000 } })
    expect(input).toEqual({ file_path: "a.ts", nonsense: true })
  })

  test.each([[{ limit: "many" }], ["text"], [null], [undefined], [[1]]])(
    "%j becomes an error result that says why",
    async (input) => {
      const checked = await checkToolInput(schema, input)
      expect(checked.state).toBe("invalid")
      if (checked.state !== "invalid") return
      const result = invalidInputResult("toolu_1", "Read", checked.reason)
      expect(result).toMatchObject({ tool_use_id: "toolu_1", is_error: true })
      expect(result.content).toMatch(/does not fit the tool Read.*: (?:file_path|input)/)
    },
  )
})
