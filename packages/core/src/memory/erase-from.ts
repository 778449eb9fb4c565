/**
 * Erases from any store what belongs to an owner, or everything that names a subject, and counts it before and after. What someone has open is
 * left and named.
 */
import { type Clock, systemClock } from "../base/clock.ts"
import { ConversationLockedError, StrataError } from "../base/errors.ts"
import { chosenIn } from "../journal/chosen-contents.ts"
import { batchesOf } from "../journal/content-batches.ts"
import {
  type ContentAddress,
  type Contents,
  contentName,
  MESSAGES,
  projectOf,
  type StoredItem,
} from "../journal/contents.ts"
import type { Store } from "../journal/store.ts"
import { openBank, updateSearch } from "./bank.ts"
import { isTopicFile } from "./file-names.ts"

/** What is to go. Either `owner` or `subject`. */
export interface EraseRequest {
  /** Everything of this owner, as given in the option `memory`. */
  readonly owner?: string
  /** Everything in which this text occurs, in any case of its letters. */
  readonly subject?: string
  /** Only in this project: its name, title, remote or path. */
  readonly project?: string
  /** Only says what would go. */
  readonly dryRun?: boolean
  readonly clock?: Clock
}

export interface EraseCounts {
  readonly conversations: number
  readonly subAgents: number
  readonly memoryFiles: number
  readonly messages: number
  readonly logs: number
  readonly sums: number
}

export interface EraseReport {
  readonly before: EraseCounts
  /** What is still there: what was open. */
  readonly after: EraseCounts
  /** By name. */
  readonly erased: readonly string[]
  /** What was left because it is open, one sentence each. */
  readonly left: readonly string[]
}

export async function eraseFrom(store: Store, request: EraseRequest): Promise<EraseReport> {
  const { owner, subject, dryRun = false, clock = systemClock } = request
  if ((owner === undefined) === (subject === undefined) || owner === "" || subject?.trim() === "")
    throw new StrataError("Name an owner or a subject, and not both. Nothing was erased.")
  const found = await foundIn(store, request)
  const before = countsOf(found)
  const names = found.map(({ content, files }) => nameOf(content.address, files)).sort()
  // one that was killed may have left the index of what it had erased. Any search would take it out too
  if (found.length === 0) await updateSearch(store)
  if (dryRun) return { before, after: before, erased: [], left: [] }
  const left: string[] = []
  for (const match of found.sort(conversationsLast)) {
    try {
      const member = await memberOf(store, match)
      if (member !== undefined) left.push(`${contentName(match.content.address)}: ${member} is in it. Stop it first.`)
      else await eraseMatch(store, match, { clock, isWhole: owner !== undefined })
    } catch (error) {
      if (!(error instanceof ConversationLockedError)) throw error
      left.push(`${contentName(match.content.address)}: ${error.message}`)
    }
  }
  await updateSearch(store)
  const still = await foundIn(store, request)
  const remaining = new Set(still.map(({ content, files }) => nameOf(content.address, files)))
  return { before, after: countsOf(still), erased: names.filter((name) => !remaining.has(name)), left }
}

/** Someone who works in a team that would go. Single messages go from any team. */
async function memberOf(store: Store, { content: { address }, files }: Match): Promise<string | undefined> {
  if (address.kind !== "team" || files !== undefined) return undefined
  const mailbox = store.mailboxes(address)
  try {
    return (await mailbox.members())[0]?.name
  } finally {
    await mailbox.close()
  }
}

/** A thing that goes, or some of its files. */
interface Match {
  readonly content: StoredItem
  /** Of memories: their paths. Of teams: the places of messages. Absent: all of it. */
  readonly files?: readonly string[]
  readonly messages: number
}

/** Sub-agents first: erasing a conversation erases them too. */
const conversationsLast = (a: Match, b: Match) => rank(a) - rank(b)
const rank = ({ content: { address } }: Match) => (address.kind === "journal" && address.under === undefined ? 1 : 0)

const nameOf = (address: ContentAddress, files: readonly string[] | undefined): string =>
  files === undefined || address.kind === "team" ? contentName(address) : `${contentName(address)}: ${files.join(", ")}`

async function foundIn(store: Store, request: EraseRequest): Promise<Match[]> {
  const contents = store.contents()
  const { all, isChosen } = await chosenIn(store, request)
  const needles = request.subject === undefined ? undefined : needlesOf(request.subject)
  const found: Match[] = []
  for (const content of all) {
    if (!isChosen(content.address)) continue
    if (needles === undefined) found.push({ content, messages: await messagesIn(contents, content) })
    else found.push(...(await naming(contents, content, needles)))
  }
  return found
}

/** As texts, and as JSON spells it. */
function needlesOf(subject: string): readonly string[] {
  const plain = folded(subject)
  return [...new Set([plain, JSON.stringify(plain).slice(1, -1)])]
}

const folded = (text: string): string => text.normalize("NFC").toLowerCase()

const names = (text: Buffer | string, needles: readonly string[]): boolean => {
  const searched = folded(text.toString())
  return needles.some((needle) => searched.includes(needle))
}

async function naming(contents: Contents, content: StoredItem, needles: readonly string[]): Promise<readonly Match[]> {
  const { address } = content
  for (let at = 0, size = content.lines ?? 0; at < size; ) {
    const bytes = await contents.lines(address, at)
    if (bytes.length === 0) break
    if (names(bytes, needles)) return [{ content, messages: 0 }]
    at += bytes.length
  }
  if (address.kind === "team") {
    const lines = (await messageLines(contents, address)).filter((line) => names(line, needles))
    const places = lines.map((line) => `${MESSAGES}/${(JSON.parse(line) as { readonly at: number }).at}`)
    return places.length === 0 ? [] : [{ content, files: places, messages: places.length }]
  }
  const hits: string[] = []
  for (const batch of batchesOf(content))
    for (const [name, data] of await contents.files(address, batch))
      if (names(name, needles) || names(data, needles)) hits.push(name)
  if (hits.length === 0) return []
  return [address.kind === "memories" ? { content, files: hits, messages: 0 } : { content, messages: 0 }]
}

async function messagesIn(contents: Contents, { address }: StoredItem): Promise<number> {
  if (address.kind !== "team") return 0
  return (await messageLines(contents, address)).length
}

async function messageLines(contents: Contents, team: ContentAddress): Promise<readonly string[]> {
  const text = (await contents.files(team, [MESSAGES])).get(MESSAGES)?.toString("utf8") ?? ""
  return text.split("\n").slice(0, -1)
}

interface Erasing {
  readonly clock: Clock
  /** All of the place goes, so what remains need not be in order. */
  readonly isWhole: boolean
}

async function eraseMatch(store: Store, { content, files }: Match, { clock, isWhole }: Erasing): Promise<void> {
  const { address } = content
  const contents = store.contents()
  if (address.kind !== "memories" || isWhole || files === undefined) return contents.erase(address, files)
  const bank = openBank({ files: store.memories(address.place), clock })
  for (const path of files.filter(isTopicFile)) await bank.erase(path) // with its history, and what names it
  const { files: present } = await stillIn(contents, address)
  const rest = files.filter((path) => present.has(path) && !isTopicFile(path))
  await contents.erase(address, rest)
}

async function stillIn(contents: Contents, address: ContentAddress) {
  const project = projectOf(address)
  for await (const { address: one, files } of contents.list(project === undefined ? {} : { project }))
    if (contentName(one) === contentName(address)) return { files: new Set(files.map(({ name }) => name)) }
  return { files: new Set<string>() }
}

function countsOf(found: readonly Match[]): EraseCounts {
  const of = (kind: ContentAddress["kind"]) => found.filter(({ content }) => content.address.kind === kind)
  const journals = of("journal").map(({ content }) => content.address)
  const agents = journals.filter((address) => address.kind === "journal" && address.under !== undefined).length
  return {
    conversations: journals.length - agents,
    subAgents: agents,
    memoryFiles: of("memories").reduce((sum, { content, files }) => sum + (files ?? content.files).length, 0),
    messages: found.reduce((sum, { messages }) => sum + messages, 0),
    logs: of("log").length,
    sums: of("sums").length,
  }
}
