/**
 * Compares the lists of files and commands on recorded conversations with an independent scan of their tool calls. The effects of shell
 * commands are not computed twice: for paths that a command may have written, the test only checks that a command mentions them.
 */
import { describe, expect, test } from "vitest"
import { needs } from "../../../../test/needs.ts"
import {
  CLAUDE_CODE_FILES,
  CODEX_FILES,
  importReal,
  OPENHANDS_FILES,
  PI_FILES,
  WHERE_THEY_ARE,
} from "../../../../test/real-transcripts.ts"
import {
  callsIn,
  fatesFrom,
  lastFailed,
  mayBeWrittenByShell,
  prefixOf,
  unquoted,
} from "../../../../test/recorded-calls.ts"
import { project } from "../../../views/projection.ts"
import { artifacts } from "../../../views/record/artifacts.ts"
import { renderFailures, renderFiles, renderTests } from "./user-messages.ts"

const UNBOUNDED = { limit: Number.POSITIVE_INFINITY, reads: Number.POSITIVE_INFINITY, estimate: () => 1 }

describe(`L4-29 ${WHERE_THEY_ARE}`, needs("transcripts"), () => {
  test.each([...CLAUDE_CODE_FILES, ...CODEX_FILES, ...PI_FILES, ...OPENHANDS_FILES])("%s: the files", (name) => {
    for (const { messages } of importReal(name)) {
      const calls = callsIn(messages)
      const isShells = mayBeWrittenByShell(calls)

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
    const failed = lastFailed(callsIn(messages))

    const facts = { artifacts: project(artifacts, messages), ...UNBOUNDED }
    const lines = [renderFailures(facts), renderTests(facts)].join("\n").split("\n")
    const shown = lines.flatMap((line) => /^- failed.*? \(result in message \S+\): (.*)$/.exec(line)?.[1] ?? [])
    expect(shown.map((command) => prefixOf(unquoted(command))).toSorted()).toEqual(failed.toSorted())
  })
})

function listsIn(rendered: string): ReadonlyMap<string, string> {
  const fates = new Map<string, string>()
  let heading = ""
  for (const line of rendered.split("\n").slice(1)) {
    if (line.startsWith("- ")) fates.set(unquoted(line.slice(2)), heading)
    else heading = line
  }
  return fates
}
