/**
 * Erases from any store the data of an owner, or everything that mentions a subject, and counts it before and after. Open conversations
 * and teams are skipped and reported.
 */
import { type Clock, systemClock } from "../base/clock.ts"
import { ConversationLockedError, StrataError } from "../base/errors.ts"
import { fileBatches } from "../journal/content-batches.ts"
import { type ContentSelection, selectContents } from "../journal/content-selection.ts"
import {
  type ContentAddress,
  type Contents,
  contentName,
  contentProject,
  MESSAGES,
  type StoredItem,
} from "../journal/contents.ts"
import type { Store } from "../journal/store.ts"
import { removeUnusedIndex } from "../recall/journal-search.ts"
import { openBank, updateSearchIndexes } from "./bank.ts"
import { isTopicFile } from "./file-names.ts"

/** What to erase. Either `owner` or `subject`. */
export interface EraseRequest {
  /** Everything of this owner, as passed in the option `memory`. */
  readonly owner?: string
  /** Everything that contains this text, ignoring case. */
  readonly subject?: string
  /** Restricts the erasure to this project: its name, title, remote or path. */
  readonly project?: string
  /** Only reports what would be erased. */
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
  /** What remains because it was open. */
  readonly after: EraseCounts
  /** The names of the erased items. */
  readonly erased: readonly string[]
  /** What remains because it is open, one sentence each. */
  readonly left: readonly string[]
}

export async function eraseFrom(store: Store, request: EraseRequest): Promise<EraseReport> {
  const { owner, subject, dryRun = false, clock = systemClock } = request
  if ((owner === undefined) === (subject === undefined) || owner === "" || subject?.trim() === "")
    throw new StrataError("Name an owner or a subject, and not both. Nothing was erased.")
  const { found, isSelected } = await findMatches(store, request)
  const before = countMatches(found)
  const names = found.map(({ content, files }) => matchName(content.address, files)).sort()
  // a killed erasure may have left an index with the erased text. The next search would remove it too
  if (found.length === 0) await updateSearchIndexes(store)
  const isWanted = (project: string) => owner !== undefined && isSelected({ kind: "sums", project })
  if (dryRun) {
    if (found.length === 0) await removeRemains(store, isWanted)
    return { before, after: before, erased: [], left: [] }
  }
  const skipped: string[] = []
  for (const match of found.sort(conversationsLast)) {
    try {
      const member = await memberOf(store, match)
      if (member !== undefined)
        skipped.push(`${contentName(match.content.address)}: ${member} is in it. Stop it first.`)
      else await eraseMatch(store, match, { clock, isWhole: owner !== undefined })
    } catch (error) {
      if (!(error instanceof ConversationLockedError)) throw error
      skipped.push(`${contentName(match.content.address)}: ${error.message}`)
    }
  }
  await updateSearchIndexes(store)
  const { found: still } = await findMatches(store, request)
  const remains = await removeRemains(store, isWanted)
  const remaining = new Set(still.map(({ content, files }) => matchName(content.address, files)))
  const erased = [...names.filter((name) => !remaining.has(name)), ...remains.erased]
  return { before, after: countMatches(still), erased, left: [...skipped, ...remains.left] }
}

/** Removes search indexes and directories of namespaces that are empty now. */
async function removeRemains(
  store: Store,
  isWanted: (project: string) => boolean,
): Promise<Pick<EraseReport, "erased" | "left">> {
  const contents = store.contents()
  const erased: string[] = []
  const left: string[] = []
  for (const project of (await contents.emptyNamespaces?.(isWanted)) ?? []) {
    const index = removeUnusedIndex(store, { project })
    if (index === "removed") erased.push(`search index ${project}`)
    if (index === "open") left.push(`search index ${project}: a process has it open. It contains nothing.`)
    else await contents.removeEmpty?.(project)
  }
  return { erased, left }
}

/** A member of the team to erase, if there is one. Single messages can be erased from any team. */
async function memberOf(store: Store, { content: { address }, files }: EraseMatch): Promise<string | undefined> {
  if (address.kind !== "team" || files !== undefined) return undefined
  const mailbox = store.mailboxes(address)
  try {
    return (await mailbox.members())[0]?.name
  } finally {
    await mailbox.close()
  }
}

/** An item to erase, or some of its files. */
interface EraseMatch {
  readonly content: StoredItem
  /** For memories: the paths. For teams: the positions of messages. Absent: the entire item. */
  readonly files?: readonly string[]
  readonly messages: number
}

/** Sub-agents first: erasing a conversation erases its sub-agents too. */
const conversationsLast = (a: EraseMatch, b: EraseMatch) => rank(a) - rank(b)
const rank = ({ content: { address } }: EraseMatch) =>
  address.kind === "journal" && address.under === undefined ? 1 : 0

const matchName = (address: ContentAddress, files: readonly string[] | undefined): string =>
  files === undefined || address.kind === "team" ? contentName(address) : `${contentName(address)}: ${files.join(", ")}`

async function findMatches(
  store: Store,
  request: EraseRequest,
): Promise<{
  readonly found: EraseMatch[]
  readonly isSelected: ContentSelection["isSelected"]
}> {
  const contents = store.contents()
  const { all, isSelected } = await selectContents(store, request)
  const needles = request.subject === undefined ? undefined : subjectSpellings(request.subject)
  const found: EraseMatch[] = []
  for (const content of all) {
    if (!isSelected(content.address)) continue
    if (needles === undefined) found.push({ content, messages: await messagesIn(contents, content) })
    else found.push(...(await matchesIn(contents, content, needles)))
  }
  return { found, isSelected }
}

/** Spellings of the subject: as plain text and as JSON. */
function subjectSpellings(subject: string): readonly string[] {
  const plain = foldCase(subject)
  return [...new Set([plain, JSON.stringify(plain).slice(1, -1)])]
}

const foldCase = (text: string): string => text.normalize("NFC").toLowerCase()

const mentions = (text: Buffer | string, needles: readonly string[]): boolean => {
  const searched = foldCase(text.toString())
  return needles.some((needle) => searched.includes(needle))
}

async function matchesIn(
  contents: Contents,
  content: StoredItem,
  needles: readonly string[],
): Promise<readonly EraseMatch[]> {
  const { address } = content
  for (let at = 0, size = content.lines ?? 0; at < size; ) {
    const bytes = await contents.lines(address, at)
    if (bytes.length === 0) break
    if (mentions(bytes, needles)) return [{ content, messages: 0 }]
    at += bytes.length
  }
  if (address.kind === "team") {
    const lines = (await messageLines(contents, address)).filter((line) => mentions(line, needles))
    const positions = lines.map((line) => `${MESSAGES}/${(JSON.parse(line) as { readonly at: number }).at}`)
    return positions.length === 0 ? [] : [{ content, files: positions, messages: positions.length }]
  }
  const hits: string[] = []
  for (const batch of fileBatches(content))
    for (const [name, data] of await contents.files(address, batch))
      if (mentions(name, needles) || mentions(data, needles)) hits.push(name)
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

interface MatchErasure {
  readonly clock: Clock
  /** Whether the entire namespace is erased, so that the remaining files need not be consistent. */
  readonly isWhole: boolean
}

async function eraseMatch(
  store: Store,
  { content, files }: EraseMatch,
  { clock, isWhole }: MatchErasure,
): Promise<void> {
  const { address } = content
  const contents = store.contents()
  if (address.kind !== "memories" || isWhole || files === undefined) return contents.erase(address, files)
  const bank = openBank({ files: store.memories(address.namespace), clock })
  for (const path of files.filter(isTopicFile)) await bank.erase(path) // including its history and all references to it
  const { files: present } = await findRemaining(contents, address)
  const rest = files.filter((path) => present.has(path) && !isTopicFile(path))
  await contents.erase(address, rest)
}

async function findRemaining(contents: Contents, address: ContentAddress) {
  const project = contentProject(address)
  for await (const { address: one, files } of contents.list(project === undefined ? {} : { project }))
    if (contentName(one) === contentName(address)) return { files: new Set(files.map(({ name }) => name)) }
  return { files: new Set<string>() }
}

function countMatches(found: readonly EraseMatch[]): EraseCounts {
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
