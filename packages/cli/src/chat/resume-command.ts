/** `/resume`: switches to another conversation of this project, or imports a session of another program. */
import { basename } from "node:path"
import type { StoredConversation } from "@strata/core"
import type { ExternalSession } from "@strata/transcripts"
import { UsageError } from "../command.ts"
import { findById, titleFrom } from "../conversation-names.ts"
import { formatTimeAgo } from "../display/numbers.ts"
import { escapeToLine } from "../display/visible.ts"
import { programName } from "../import/import-report.ts"
import { isTranscriptName } from "../session-options.ts"
import type { CommandTarget } from "./command-target.ts"

export async function resume(chat: CommandTarget, named: string): Promise<void> {
  if (isTranscriptName(named)) return chat.importAndResume(named)
  const own = await chat.conversations()
  const others = own.filter((conversation) => conversation.id !== chat.agent.conversation.id)
  if (named !== "") {
    const found = findById(named, others)
    if (!found) throw new UsageError(`There is no other conversation ${named} in this project. "/resume" lists them.`)
    return chat.resume(found)
  }
  const { cwd } = chat.place
  const rows = resumable({ own: others, all: own, external: await chat.externalSessions(), now: chat.now(), cwd })
  if (rows.length === 0) return chat.notice("This project has no other conversation.")
  const answer = await chat.ask({ title: "Switch to which conversation?", options: rows })
  if (answer.type !== "chosen") return
  const row = rows[answer.index]!
  await (row.kind === "own" ? chat.resume(row.conversation) : chat.importAndResume(row.path))
}

export type ResumableRow = { readonly label: string; readonly hint: string } & (
  | { readonly kind: "own"; readonly conversation: StoredConversation }
  | { readonly kind: "foreign"; readonly path: string }
)

export interface ResumableOptions {
  readonly own: readonly StoredConversation[]
  /** All conversations, including the open one, so that imported sessions are not listed twice. */
  readonly all: readonly Pick<StoredConversation, "id" | "updated">[]
  readonly external: readonly ExternalSession[]
  readonly now: Date
  /** The working directory. */
  readonly cwd: string
}

/** Conversations and sessions of this directory, newest first, followed by those of other directories. */
export function resumable({ own, all, external, now, cwd }: ResumableOptions): readonly ResumableRow[] {
  const known = new Map(all.map(({ id, updated }) => [id, Date.parse(updated)]))
  const fresh = external.filter(({ id, lastMessageMs }) => (known.get(id ?? "") ?? 0) < lastMessageMs)
  const isHere = ({ directory = cwd }: StoredConversation) => directory === cwd
  const here = [
    ...own
      .filter(isHere)
      .map((conversation) => ({ at: Date.parse(conversation.updated), row: ownRow(conversation, now) })),
    ...fresh
      .filter((session) => session.isHere)
      .map((session) => ({ at: session.lastMessageMs, row: externalRow(session, now) })),
  ].toSorted((a, b) => b.at - a.at)
  const others = own.filter((conversation) => !isHere(conversation))
  return [
    ...here.map(({ row }) => row),
    ...others.map((conversation) => ownRow(conversation, now, conversation.directory)),
    ...fresh.filter((session) => !session.isHere).map((session) => externalRow(session, now)),
  ]
}

/** A row for a Strata conversation. `elsewhere` is its directory, if it is another one. */
function ownRow(conversation: StoredConversation, now: Date, elsewhere?: string): ResumableRow {
  const { title, id, updated, model } = conversation
  return {
    kind: "own",
    conversation,
    label: title ? titleFrom(title) : `(no title) ${id.slice(0, 8)}`,
    hint: [formatTimeAgo(new Date(updated), now), model, elsewhere && `in ${escapeToLine(elsewhere)}`]
      .filter(Boolean)
      .join(", "),
  }
}

function externalRow({ path, title, program, lastMessageMs, isHere }: ExternalSession, now: Date): ResumableRow {
  const age = formatTimeAgo(new Date(lastMessageMs), now)
  return {
    kind: "foreign",
    path,
    label: escapeToLine(titleFrom(title ?? basename(path))),
    hint: [age, programName(program), ...(isHere ? [] : ["another directory"])].join(", "),
  }
}
