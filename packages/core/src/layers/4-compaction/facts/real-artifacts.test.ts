/**
 * The lists of files and commands on recorded conversations, against a second look at the recordings' tool calls. What shell commands do to
 * files is not computed twice: paths that a command may have written are only checked to be named by one.
 */
import { describe, expect, test } from "vitest"
import {
  CLAUDE_CODE_FILES,
  CODEX_FILES,
  importReal,
  OPENHANDS_FILES,
  PI_FILES,
  TRANSCRIPTS_ARE_HERE,
  WHERE_THEY_ARE,
} from "../../../../test/real-transcripts.ts"
import { isToolResult, isToolUse, resultBlocks, textOf } from "../../../messages/blocks.ts"
import { contentOf, type Message } from "../../../messages/messages.ts"
import { project } from "../../../views/projection.ts"
import { artifacts } from "../../../views/record/artifacts.ts"
import { renderFailures, renderFiles, renderTests } from "./work-done.ts"

const UNBOUNDED = { limit: Number.POSITIVE_INFINITY, estimate: () => 1 }

interface Call {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly failed: boolean
  readonly output: string
}

describe.skipIf(!TRANSCRIPTS_ARE_HERE)(`L4-29 ${WHERE_THEY_ARE}`, () => {
  test.each([...CLAUDE_CODE_FILES, ...CODEX_FILES, ...PI_FILES, ...OPENHANDS_FILES])("%s: the files", (name) => {
    for (const { messages } of importReal(name)) {
      const calls = callsIn(messages)
      const shell = calls
        .flatMap(({ input }) => String(input.command ?? input.cmd ?? ""))
        .filter((command) =>
          />|\b(?:rm|mv|cp|tee|touch|sed|perl|git|curl|go|ruff|gofmt|npx|python3?|node)\b/.test(command),
        )
      // a command may build the ending from a variable
      const nameOf = (path: string) =>
        path
          .split(/[/\\]/)
          .at(-1)!
          .replace(/(?<=.)\.[^.]*$/, "")
      const isShells = (path: string) => shell.some((command) => command.includes(nameOf(path)))

      const listed = listsIn(renderFiles({ artifacts: project(artifacts, messages), ...UNBOUNDED }))
      const expected = fatesFrom(calls)
      const withoutShells = (fates: ReadonlyMap<string, string>) =>
        Object.fromEntries([...fates].filter(([path]) => !isShells(path)).toSorted())
      expect(withoutShells(listed)).toEqual(withoutShells(expected))
      for (const path of expected.keys()) expect(listed.has(path), path).toBe(true)
      for (const [path, fate] of listed) if (fate === "Deleted:") expect(isShells(path), path).toBe(true)
    }
  })

  test.each(CLAUDE_CODE_FILES)("%s: the commands whose last run failed", (name) => {
    const { messages } = importReal(name)[0]!
    const last = new Map<string, Call>()
    for (const call of callsIn(messages)) if (call.tool === "Bash") last.set(String(call.input.command), call)
    const failed = [...last].filter(([, call]) => call.failed).map(([command]) => beginningOf(command))

    const facts = { artifacts: project(artifacts, messages), ...UNBOUNDED }
    const lines = [renderFailures(facts), renderTests(facts)].join("\n").split("\n")
    const told = lines.flatMap((line) => /^- failed.*? \(result in message \S+\): (.*)$/.exec(line)?.[1] ?? [])
    expect(told.map((command) => beginningOf(unquoted(command))).toSorted()).toEqual(failed.toSorted())
  })
})

/** Long enough to tell commands apart, shorter than what is shown of one. */
const beginningOf = (command: string) => command.slice(0, 300)

function unquoted(shown: string): string {
  const quoted = /^("(?:[^"\\]|\\.)*")/.exec(shown)?.[1]
  return quoted ? (JSON.parse(quoted) as string) : shown
}

function callsIn(messages: readonly Message[]): readonly Call[] {
  const open = new Map<string, Pick<Call, "tool" | "input">>()
  const calls: Call[] = []
  for (const message of messages) {
    if (message.isSidechain || (message.type !== "assistant" && message.type !== "user")) continue
    for (const block of contentOf(message)) {
      if (isToolUse(block)) open.set(block.id, { tool: block.name, input: block.input as Call["input"] })
      else if (isToolResult(block)) {
        const call = open.get(block.tool_use_id)
        if (call) calls.push({ ...call, failed: block.is_error === true, output: textOf(resultBlocks(block)) })
        open.delete(block.tool_use_id)
      }
    }
  }
  return calls
}

/** The heading under which each file belongs. */
function fatesFrom(calls: readonly Call[]): ReadonlyMap<string, string> {
  const fates = new Map<string, string>()
  const change = (path: string) => fates.set(path, fates.get(path) === "Created:" ? "Created:" : "Changed:")
  for (const { tool, input, failed, output } of calls) {
    if (failed) continue
    const path = String(input.file_path ?? input.path)
    const what = tool === "str_replace_editor" ? String(input.command) : tool.toLowerCase()
    if (what === "apply_patch") {
      for (const [, added] of String(input.text).matchAll(/^\*\*\* Add File: (.+)$/gm)) fates.set(added!, "Created:")
      for (const [, updated] of String(input.text).matchAll(/^\*\*\* Update File: (.+)$/gm)) change(updated!)
    } else if (what === "read" || what === "view") fates.set(path, fates.get(path) ?? "Read and not changed:")
    else if (["edit", "multiedit", "str_replace", "insert"].includes(what)) change(path)
    else if (what === "write" || what === "create") {
      if (!fates.has(path) || output.startsWith("File created")) fates.set(path, "Created:")
      else change(path)
    }
  }
  return fates
}

function listsIn(rendered: string): ReadonlyMap<string, string> {
  const fates = new Map<string, string>()
  let heading = ""
  for (const line of rendered.split("\n").slice(1)) {
    if (line.startsWith("- ")) fates.set(unquoted(line.slice(2)), heading)
    else heading = line
  }
  return fates
}
