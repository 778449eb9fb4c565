/** What the user wrote, what the work did and what is still open, as plain values computed from the journal. */

import type { Todo } from "../../messages/attachments.ts"
import type { Uuid } from "../../messages/messages.ts"
import { type Artifacts, type FileFate, fileFate } from "../record/artifacts.ts"
import type { WorkState } from "../record/open-work.ts"
import type { UserMessages } from "../record/user-messages.ts"

/** The user's messages, and the standing rules in them. */
export interface UserMessagesReport {
  /** Every message of the user and every answer to a question, verbatim, oldest first. */
  readonly messages: readonly UserMessageReport[]
  /** Sentences in them that ask for something always, never or from now on. */
  readonly rules: readonly { readonly text: string; readonly uuid: Uuid }[]
}

/** A message of the user. */
export interface UserMessageReport {
  /** The entry in the journal. */
  readonly uuid: Uuid
  /** Time at which it was added, in ISO 8601. */
  readonly at: string
  readonly text: string
  /** Whether the text is only the start of a very long message. The journal has the full text. */
  readonly isCut?: true
  /** Set if the text came with the refusal of a call or as the answer to a question, not as a message of its own. */
  readonly saidAt?: "refusal" | "answer"
  /** Number of sentences of pasted text in it that read like rules. They are not among `rules`. */
  readonly otherRules?: number
}

/** Each file is in exactly one of the four lists, by its final state. Each list ends with the newest. */
export interface ArtifactsReport {
  readonly created: readonly string[]
  readonly changed: readonly string[]
  readonly deleted: readonly string[]
  /** Read, but not changed. */
  readonly read: readonly string[]
  readonly files: readonly FileReport[]
  /** The last run of each command line, newest last. */
  readonly commands: readonly CommandReport[]
}

/** A file that tools touched. */
export interface FileReport {
  readonly path: string
  readonly reads: number
  readonly changes: number
  readonly isCreated: boolean
  readonly isDeleted: boolean
  /** Hash of the content as it was last read or written in full. */
  readonly sha256?: string
  /** The entry with the newest result about the file. */
  readonly uuid: Uuid
}

/** A command that ran. */
export interface CommandReport {
  readonly command: string
  readonly failed: boolean
  /** Absent if the output does not contain one. */
  readonly exitCode?: number
  readonly isTest: boolean
  /** The entry with the result. */
  readonly uuid: Uuid
}

/** The state of the work: todos, plan, the last request, open calls. */
export interface WorkStateReport {
  readonly todos: readonly Todo[]
  readonly plan: {
    /** Whether the conversation is in plan mode. */
    readonly active: boolean
    readonly path?: string
    readonly text?: string
  }
  /** The user's last request. */
  readonly request?: { readonly uuid: Uuid; readonly text: string }
  /** Whether the assistant has given a final answer to it. */
  readonly answered: boolean
  /** Tool calls without a result so far. */
  readonly openCalls: readonly {
    readonly id: string
    readonly tool: string
    readonly input: Readonly<Record<string, unknown>>
  }[]
}

export function userMessagesReport({ words }: { readonly words: UserMessages }): UserMessagesReport {
  return {
    messages: words.messages.map(({ uuid, timestamp, text, isCut, saidAt, otherRules }) => ({
      uuid,
      at: timestamp,
      text,
      ...(isCut ? { isCut } : {}),
      ...(saidAt ? { saidAt } : {}),
      ...(otherRules ? { otherRules } : {}),
    })),
    rules: words.messages.flatMap(({ uuid, rules }) => rules.map((text) => ({ text, uuid }))),
  }
}

export function artifactsReport({ artifacts }: { readonly artifacts: Artifacts }): ArtifactsReport {
  const files = [...artifacts.files]
  const byFate = Map.groupBy(files, ([, facts]) => fileFate(facts))
  const paths = (fate: FileFate) => (byFate.get(fate) ?? []).map(([path]) => path)
  return {
    created: paths("created"),
    changed: paths("changed"),
    deleted: paths("deleted"),
    read: paths("read"),
    files: files.map(([path, { reads, changes, created, deleted, hash, last }]) => ({
      path,
      reads,
      changes,
      isCreated: created,
      isDeleted: deleted,
      ...(hash === undefined ? {} : { sha256: hash }),
      uuid: last,
    })),
    commands: [...artifacts.commands].map(([command, { failed, exitCode, isTest, last }]) => ({
      command,
      failed,
      ...(exitCode === undefined ? {} : { exitCode }),
      isTest,
      uuid: last,
    })),
  }
}

export function workStateReport({ frontier }: { readonly frontier: WorkState }): WorkStateReport {
  const { todos, plan, request, answered, open } = frontier
  return {
    todos: todos.map((todo) => ({ ...todo })),
    plan: { ...plan },
    ...(request ? { request: { ...request } } : {}),
    answered,
    openCalls: [...open.values()].map((call) => ({ ...call })),
  }
}
