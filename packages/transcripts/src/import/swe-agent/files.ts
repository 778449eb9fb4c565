/**
 * The files that SWE-agent's commands changed. Its edits name no file: they apply to the one that is open, which each observation names at
 * its end. What no edit shows is in the diff that the run submitted.
 */
import type { FileChange, Message, UserMessage } from "@strata/core/messages"

type Changes = Pick<UserMessage, "filesChanged">

const OPEN_FILE = /\(Open file: (.+)\)\s*\n\(Current directory: (.+)\)/
/** Shown after each edit that was applied. */
const WINDOW = /^\[File: .+ \(\d+ lines total\)\]\s*$/m
const REFUSED = /^Your proposed edit has introduced|have NOT been applied|^Error:/m
const EDIT = /^(?:create|edit|insert|append|str_replace)\b/
const REMOVAL = /^rm (?:-\w+ )*([^\s-][^\s;&|*?]*)\s*$/
const NO_FILE = "n/a"

export interface Submission {
  readonly diff: string
  /** Where the run began. The paths of the diff start there. */
  readonly directory: string | undefined
}

export class ChangedFiles {
  #command = ""
  readonly #changed = new Set<string>()

  asked(command: string): void {
    this.#command = command.trim()
  }

  /** The changes of the last command, shown by what was observed after it. */
  observed(observation: string, callId: string): Changes {
    const [, file = NO_FILE, directory = ""] = OPEN_FILE.exec(observation) ?? []
    const command = this.#command
    this.#command = ""
    const removed = REMOVAL.exec(command)?.[1]
    if (removed !== undefined && !/^rm: /m.test(observation))
      return this.#changes(callId, { path: inside(removed, directory), what: "deleted" })
    if (!EDIT.test(command) || file === NO_FILE || !WINDOW.test(observation) || REFUSED.test(observation)) return {}
    return this.#changes(callId, { path: file, what: command.startsWith("create") ? "created" : "changed" })
  }

  /** The messages, with what else the run changed at the last observation. */
  submitted(messages: readonly Message[], { diff, directory = "" }: Submission): readonly Message[] {
    const files = [...diff.matchAll(/^diff --git a\/(.+) b\/(.+?)\r?$((?:\r?\n(?!diff --git ).*)*)/gm)]
      .map(([, , path, rest]): FileChange => ({ path: inside(path!, directory), what: fateIn(rest!) }))
      .filter(({ path }) => !this.#changed.has(path))
    const last = messages.findLastIndex(({ type }) => type === "user")
    if (files.length === 0 || last < 0) return messages
    const { filesChanged = [], ...message } = messages[last] as UserMessage
    const callId = filesChanged[0]?.callId ?? resultIn(message)
    const all = [...filesChanged.flatMap((changes) => changes.files), ...files]
    return messages.with(last, { ...message, filesChanged: [{ callId, files: all }] })
  }

  #changes(callId: string, change: FileChange): Changes {
    this.#changed.add(change.path)
    return { filesChanged: [{ callId, files: [change] }] }
  }
}

function fateIn(header: string): FileChange["what"] {
  if (/^new file mode/m.test(header)) return "created"
  return /^deleted file mode/m.test(header) ? "deleted" : "changed"
}

function resultIn({ message: { content } }: UserMessage): string {
  const result = typeof content === "string" ? undefined : content.find((block) => block.type === "tool_result")
  return result && "tool_use_id" in result ? String(result.tool_use_id) : ""
}

const inside = (path: string, directory: string): string =>
  path.startsWith("/") || directory === "" ? path : `${directory}/${path}`
