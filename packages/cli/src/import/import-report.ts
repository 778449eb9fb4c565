/** Imports a session of another program into this project and reports the result. */
import { realpath, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { localUser, type StoredConversation } from "@strata/core"
import { type ImportOrUpdateResult, importOrUpdateConversations } from "@strata/transcripts"
import { UsageError } from "../command.ts"
import { escapeInvisible } from "../display/escaped.ts"
import { pluralize } from "../display/numbers.ts"
import type { Environment } from "../session-options.ts"
import { conversationsIn } from "../stored-conversation.ts"

export interface ResumeFileOptions {
  readonly file: string
  /** The project's directory. */
  readonly cwd: string
  readonly env: Environment
}

export interface ResumedFile {
  readonly conversation: StoredConversation
  /** Sentences for the user. */
  readonly notes: readonly string[]
}

/** Imports a file and returns its last conversation for opening. Other conversations in it are stored too. */
export async function resumeFile({ file, cwd, env }: ResumeFileOptions): Promise<ResumedFile> {
  const taken = await importOrUpdateConversations({ file: resolve(cwd, file), cwd, env, owner: localUser })
  const last = taken.at(-1)!
  const conversation = (await conversationsIn({ cwd, env })).find(({ id }) => id === last.id)
  if (!conversation)
    throw new UsageError(`Nothing was said in ${escapeInvisible(file)}, so there is nothing to continue.`)
  const others = taken.length - 1
  const more =
    others === 0 ? [] : [`The file has ${pluralize(others, "more conversation")}: /resume lists all of them.`]
  return { conversation, notes: [describeOutcome(last), ...describeOmissions(last), ...more] } // the session reports its former directory
}

const NAMES: Readonly<Record<string, string>> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  pi: "pi",
  opencode: "opencode",
  gemini: "Gemini CLI",
  copilot: "Copilot CLI",
  openhands: "OpenHands",
  "swe-agent": "SWE-agent",
}

/** Display name of a program. */
export const programName = (program: string): string => NAMES[program] ?? program

export async function describeImport(
  taken: ImportOrUpdateResult,
  { cwd }: Pick<ResumeFileOptions, "cwd">,
): Promise<readonly string[]> {
  const elsewhere = taken.cwd !== undefined && !(await isSame(taken.cwd, cwd))
  const place = elsewhere ? [`It was in ${escapeInvisible(taken.cwd!)}. Strata works in this directory.`] : []
  return [describeOutcome(taken), ...(taken.state === "known" ? [] : place), ...describeOmissions(taken)]
}

function describeOutcome(taken: ImportOrUpdateResult): string {
  const from = programName(taken.format)
  switch (taken.state) {
    case "imported":
      return `Imported from ${from}: ${pluralize(taken.messages, "message")}. The original stays as it is.`
    case "known":
      return `Imported from ${from} before, and the file has nothing new.`
    case "updated":
      return `The file has grown since it was imported from ${from}: ${pluralize(taken.added, "message")} added.`
    case "diverged":
      return `The file and your conversation ${taken.earlier} both went on. What ${from} has now is imported beside it.`
  }
}

function describeOmissions({ report, state }: ImportOrUpdateResult): readonly string[] {
  const missed = Object.entries(report.notUnderstood)
  const lines = missed.reduce((sum, [, count]) => sum + count, 0)
  const kinds = missed.map(([kind]) => escapeInvisible(kind.slice(0, 40))).slice(0, 5)
  return lines === 0 || state === "known"
    ? []
    : [`${pluralize(lines, "line")} of ${report.lines} were not understood (${kinds.join(", ")}).`]
}

async function isSame(one: string, other: string): Promise<boolean> {
  const real = (path: string) => realpath(path).catch(() => path)
  return (await real(one)) === (await real(other))
}

export const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  )
