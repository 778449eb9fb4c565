import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { findProblems } from "../../../core/src/model/offline/tool-schema.ts"
import { size } from "../../../core/test/size.ts"
import { makeTurn, requestOf, TEST_TOOLS } from "../../test/responder-tools.ts"
import type { Answer, ResponderBlock, ResponderMessage } from "../responder.ts"
import { responderByName } from "./index.ts"

const words = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.constantFrom(
    "",
    "No, never touch src/ and only read docs/a.md.",
    "stop",
    "Summarise the conversation inside <summary> tags: 1. Files 2. User messages",
    "Update the session notes in /n/notes.md.\n# Title\n_a_\n# State\n_b_\n# Log\n_c_",
    "Save memories with frontmatter to /m/memory/ and MEMORY.md.",
    "Tell your progress in one line.",
    'This session continues a conversation.\n1. Files:\n2. All User Messages:\n   - "a"\n3. Pending:\n   - [pending] `x`',
  ),
)
const output = fc.oneof(
  words,
  fc.constantFrom("src/a.ts\ndocs/b.md\n./c.py:3: x", "     1→const alpha = 1\n     2→const betas = 2", "[cleared]"),
)
const name = fc.constantFrom(
  "Read",
  "Edit",
  "Write",
  "Bash",
  "Grep",
  "Glob",
  "TodoWrite",
  "mcp__fs__read_file",
  "Unknown",
)
const id = fc.constantFrom("toolu_1", "toolu_2", "toolu_3")
const input = fc.oneof(
  fc.record(
    { file_path: fc.constantFrom("src/a.ts", "/root/b.md"), old_string: words, new_string: words },
    { requiredKeys: ["file_path"] },
  ),
  fc.record({ command: words }),
  fc.record({
    todos: fc.oneof(
      fc.constant(null),
      fc.array(fc.oneof(fc.constant(3), fc.record({ content: words, status: words }))),
    ),
  }),
  fc.jsonValue({ maxDepth: 2 }),
)
const block: fc.Arbitrary<ResponderBlock> = fc.oneof(
  words.map((text) => ({ type: "text", text })),
  fc.record({ type: fc.constant("tool_use"), id, name, input }),
  fc.record({ type: fc.constant("tool_result"), tool_use_id: id, content: output, is_error: fc.boolean() }),
  fc.record({ type: fc.constant("thinking"), thinking: words }),
  fc.constantFrom({ type: "image" }, { type: "compaction", content: "1. Files:\n2. Current Work:\n3. Next Step:" }),
)
const message: fc.Arbitrary<ResponderMessage> = fc.record({
  role: fc.constantFrom("user", "assistant", "system"),
  content: fc.array(block, { maxLength: 5 }),
})

const tools = fc.subarray([...TEST_TOOLS])

describe("BEY-8 responders and odd requests", () => {
  const conversation = [{ role: "user" as const, content: "Hello" }]
  test.each(["worker", "helpful", "extractive", "fabricating", "playback"])(
    "BEY-8 property: %s answers any request, with valid inputs",
    async (responderName) => {
      const responder = responderByName(responderName, { conversation, trouble: 0.5 })
      const property = fc.asyncProperty(
        fc.array(message, { maxLength: 8 }),
        tools,
        fc.nat(1000),
        async (messages, offered, index) => {
          const answer: Answer = await responder.answer(makeTurn({ ...requestOf(messages), tools: offered }, index))
          expect(answer.content.length).toBeGreaterThan(0)
          for (const used of answer.content) {
            if (used.type !== "tool_use" || !("input" in used)) continue
            const tool = offered.find((candidate) => candidate.name === used.name)
            expect(tool, used.name).toBeDefined()
            expect(findProblems(tool!.input_schema, used.input)).toEqual([])
          }
        },
      )
      await fc.assert(property, { numRuns: size(20, 400) })
    },
  )
})
