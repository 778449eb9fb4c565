/** Random work on a few files: reads that are repeated or superseded by changes, retried failures, and user messages. */
import fc from "fast-check"

const REFUSED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n"

export interface WorkRound {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly output: string
  readonly failed: boolean
}

const FILES = ["/p/src/a.ts", "/p/src/b.ts", "/p/notes.md"]
const file = fc.constantFrom(...FILES)
const output = fc
  .record({ of: fc.constantFrom("alpha", "beta", "gamma"), lines: fc.constantFrom(1, 30, 60, 900) })
  .map(({ of, lines }) => Array.from({ length: lines }, (_, at) => `${at} ${of}_${at} stands here`).join("\n"))

const call = (tool: string, input: fc.Arbitrary<Readonly<Record<string, unknown>>>): fc.Arbitrary<WorkRound> =>
  fc.record({ tool: fc.constant(tool), input, output, failed: fc.boolean() })

const round: fc.Arbitrary<WorkRound> = fc.oneof(
  call(
    "Read",
    file.map((file_path) => ({ file_path })),
  ),
  call("Read", fc.record({ file_path: file, offset: fc.nat(2), limit: fc.constant(50) })),
  call(
    "Edit",
    file.map((file_path) => ({ file_path, old_string: "a", new_string: "b" })),
  ),
  call(
    "Bash",
    fc.constantFrom("make test", "make deploy", "sed -i s/a/b/ /p/src/a.ts").map((command) => ({ command })),
  ),
  call(
    "mcp__wiki",
    fc.constantFrom("x", "y").map((query) => ({ query })),
  ),
  fc.record({
    tool: fc.constant("Bash"),
    input: fc.constant({ command: "make deploy" }),
    output: output.map((text) => `${REFUSED}please do not deploy, use port 48731\n${text}`),
    failed: fc.constant(true),
  }),
)

export const overtakenWork = fc.array(round, { minLength: 4, maxLength: 24 })
