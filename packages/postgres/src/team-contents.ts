/** A team on the server as texts, and back. */

import { checkedId } from "@strata/core/base"
import {
  type ContentAddress,
  ContentDiffersError,
  type ContentFileBytes,
  type KeptMember,
  type MailboxDraft,
  MEMBERS,
  MESSAGES,
  type PlacedMessage,
  teamFrom,
  teamTexts,
} from "@strata/core/store"
import type { Database } from "./database.ts"
import type { MessageRow } from "./mailbox.ts"
import { checkedProject } from "./names.ts"

const MOST_AT_ONCE = 1_000

interface KeptTeam {
  readonly database: Database
  readonly tenant: string
  readonly address: ContentAddress & { readonly kind: "team" }
}

const keyOfTeam = ({ project, team }: KeptTeam["address"]) => [checkedProject(project), checkedId("team name", team)]

/** Nothing if no message was sent and no one was in it. */
export async function readTeam({
  database,
  tenant,
  address,
}: KeptTeam): Promise<ReadonlyMap<string, Buffer> | undefined> {
  const key = keyOfTeam(address)
  const messages: PlacedMessage[] = []
  for (let count = MOST_AT_ONCE; count === MOST_AT_ONCE; ) {
    const after = messages.at(-1)?.at ?? 0
    const rows = await database.rows<MessageRow>("content_messages", tenant, ...key, after, MOST_AT_ONCE)
    messages.push(...rows.map(placedFrom))
    count = rows.length
  }
  const known = await database.row<{ senders: string | null; members: string | null; last: number | null }>(
    "content_members",
    tenant,
    ...key,
  )
  const senders = JSON.parse(known.senders ?? "{}") as Record<string, number>
  const members = JSON.parse(known.members ?? "[]") as readonly (KeptMember & { readonly read: number | null })[]
  if (messages.length + members.length === 0) return undefined
  const kept = members.map(({ read, ...member }) => (read === null ? member : { ...member, read }))
  return teamTexts({ messages, senders, members: kept, end: known.last ?? 0 })
}

const placedFrom = ({ n, sender, sequence, receivers, content }: MessageRow): PlacedMessage => ({
  from: sender,
  to: JSON.parse(receivers) as readonly string[],
  ...{ sequence, at: n },
  content: JSON.parse(content) as MailboxDraft["content"],
})

/** What is there must be the beginning of it. */
export async function writeTeam(kept: KeptTeam, files: readonly ContentFileBytes[]): Promise<void> {
  const { database, tenant, address } = kept
  const before = await readTeam(kept)
  const texts = new Map(before ?? [])
  for (const { name, data } of files) if (name === MESSAGES || name === MEMBERS) texts.set(name, data)
  const { messages, senders, members, end = 0 } = teamFrom(texts)
  const known = before?.get(MESSAGES) ?? Buffer.alloc(0)
  const differs = () => new ContentDiffersError(address, "a message")
  if (!(texts.get(MESSAGES) ?? known).subarray(0, known.length).equals(known)) throw differs()
  const last = before ? (teamFrom(before).messages.at(-1)?.at ?? 0) : 0
  const fresh = messages.filter(({ at }) => at > last)
  const sent = Object.entries(senders)
  const isWritten = await database.value<boolean>(
    "content_team_write",
    ...[tenant, ...keyOfTeam(address), last],
    ...[fresh.map(({ at }) => at), fresh.map(({ from }) => from), fresh.map(({ sequence }) => sequence)],
    ...[fresh.map(({ to }) => JSON.stringify(to)), fresh.map(({ content }) => JSON.stringify(content))],
    ...[sent.map(([name]) => name), sent.map(([, sequence]) => sequence)],
    ...[members.map(({ name }) => name), members.map(({ conversation }) => conversation)],
    ...[members.map(({ read }) => read ?? null), end],
  )
  if (!isWritten) throw differs()
}
