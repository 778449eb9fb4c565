/** Imports conversations from files of other programs. */
import { readFile, stat } from "node:fs/promises"
import { basename } from "node:path"
import {
  anOption,
  aPort,
  type Clock,
  checkOptions,
  errorReason,
  ImportError,
  isSafeId,
  localUser,
  type OptionRules,
  OWNER_OPTION,
  type Owner,
  required,
  systemClock,
  uuidFrom,
} from "@strata/core/base"
import { resolveProject } from "@strata/core/projects"
import type { Store } from "@strata/core/store"
import {
  isJournal,
  listJournalsIn,
  listProjectNamespaces,
  type ProjectInStore,
  projectNamespace,
  storeFrom,
  strataDirectory,
} from "@strata/core/store"
import { readArchivedTranscript } from "./archive/archived-transcript.ts"
import { companionFiles } from "./companion-files.ts"
import { isLocalSession } from "./find-transcripts.ts"
import { importTranscript, isReadByLine } from "./import-file.ts"
import type { ExternalFile, ImportedAgent, ImportedConversation, ImportReport } from "./importer.ts"
import { writeImported } from "./into-journal.ts"
import { canBeWhole, isLarge, LargeFile, tooLarge } from "./large-file.ts"
import { openCodeExport } from "./opencode-sessions.ts"

/** The transcript to import, and the owner of its conversations. */
export interface ImportOptions {
  /** Path of the other program's transcript. */
  readonly file: string
  /** Directory of the journals. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  /** The project's directory. Default: the working directory. */
  readonly cwd?: string
  /** Name of the project. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  /** Owner of the imported conversations. Default: none, so no other conversation finds them. */
  readonly owner?: Owner
  /** Default: files under `dir`. */
  readonly store?: Store
  readonly clock?: Clock
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export const IMPORT_RULES: OptionRules<ImportOptions> = {
  file: required({ ...anOption.filledText, expected: "the path of a transcript" }),
  dir: anOption.filledText,
  cwd: anOption.filledText,
  project: anOption.filledText,
  owner: OWNER_OPTION,
  store: aPort.store,
  clock: aPort.clock,
  env: anOption.object,
}

const FIRST_LINES = 100_000 // characters, enough to recognize the format

/** One imported conversation. */
export interface ImportOutcome {
  /** Pass it to `openConversation({ id })`, with the same owner. */
  readonly id: string
  readonly format: string
  readonly model?: string
  readonly title?: string
  /** The sub-agents of the conversation, in the order they started. Each has a journal in the conversation's folder. */
  readonly agents?: readonly ImportedAgentOutcome[]
  /** What the importer understood, what it did not, and anything unusual. */
  readonly report: ImportReport
}

/** An imported sub-agent. `messages` is 0 if the transcript contains only its result. */
export type ImportedAgentOutcome = Pick<
  ImportedAgent,
  "id" | "name" | "kind" | "description" | "definition" | "model" | "status"
> & {
  readonly messages: number
  readonly report?: ImportReport
}

/** Imports every conversation in a file. Refuses a file whose conversations were imported before. */
export async function importConversations(options: ImportOptions): Promise<readonly ImportOutcome[]> {
  checkOptions("importConversations", options, IMPORT_RULES)
  const { file, clock = systemClock } = options
  const given = await resolveTarget(options)
  const imported = await readExternal(file)
  // without an owner, conversations of the local user can be opened too
  const owners: readonly ProjectInStore["owner"][] =
    options.owner === undefined ? [localUser, undefined] : [options.owner]
  const stored = await storedNamespaces(given, owners)
  const isOwn = await isLocalSession(file, options.env ?? process.env)
  const outcomes: ImportOutcome[] = []
  for (const conversation of imported) {
    const id = idFor(conversation)
    if (stored.has(id))
      throw new ImportError(
        `Conversation ${id} of ${basename(file)} is already in ${given.store.description}. It was not changed. Open it with this id.`,
      )
    await writeImported(conversation, { ...targetIn(given), clock, source: basename(file), id, isOwn })
    outcomes.push(outcomeFor(conversation, id))
  }
  return outcomes
}

/** The store and the project that the conversations are imported into. */
export async function resolveTarget(options: ImportOptions): Promise<ProjectInStore> {
  const { cwd = process.cwd(), clock = systemClock, env = process.env, owner } = options
  const root = options.dir ?? strataDirectory(env)
  const store = storeFrom({ store: options.store, dir: root, env, clock })
  return { store, owner, project: await resolveProject({ cwd, env, root, store, project: options.project }) }
}

/** The namespaces of the stored conversations of these owners, by id. */
export async function storedNamespaces(
  target: ProjectInStore,
  owners: readonly ProjectInStore["owner"][],
): Promise<ReadonlyMap<string, string>> {
  const places = await Promise.all(owners.map((owner) => listProjectNamespaces({ ...target, owner })))
  return new Map((await listJournalsIn(target.store, places.flat())).map(({ id, namespace }) => [id, namespace]))
}

const targetIn = (given: ProjectInStore) => ({ store: given.store, project: projectNamespace(given) })

export const idFor = ({ id }: ImportedConversation): string => (isSafeId(id) ? id : uuidFrom(id))

export function outcomeFor({ format, model, title, report, agents }: ImportedConversation, id: string): ImportOutcome {
  return {
    id,
    format,
    report,
    ...(model === undefined ? {} : { model }),
    ...(title === undefined ? {} : { title }),
    ...(agents ? { agents: agents.map(outcomeOf) } : {}),
  }
}

const outcomeOf = ({
  messages,
  callId: _,
  startedIn: _s,
  endedIn: _e,
  summary: _m,
  ...agent
}: ImportedAgent): ImportedAgentOutcome => ({
  ...agent,
  messages: messages.length,
})

/** Reads the conversations in a file of another program, in a session of opencode's database, or in an archived copy. */
export async function readExternal(file: string): Promise<readonly ImportedConversation[]> {
  const session = openCodeExport(file)
  return importTranscript(session === undefined ? await readFileOf(file) : { name: basename(file), text: session })
}

async function readFileOf(file: string): Promise<ExternalFile> {
  const { size, isFile } = await stat(file).then((facts) => ({ size: facts.size, isFile: facts.isFile() }), noFile)
  const large = isFile && isLarge(size) ? largeFile(file, size) : undefined
  const bytes = large ? Buffer.from(large.head()) : await readBytes(file)
  const archived = await readArchivedTranscript(file, bytes)
  if (archived) return archived
  if (isJournal(bytes.subarray(0, FIRST_LINES)))
    throw new ImportError(
      `${file} is a journal of Strata's own. Nothing was imported. Continue it in its directory, with its id: ${basename(file, ".jsonl")}`,
    )
  const text = bytes.toString("utf8")
  const companions = await companionFiles(file, large?.lines() ?? [text])
  return { name: basename(file), text, companions, ...(large ? { large } : {}) }
}

/** Returns a file to be read line by line, where its format allows that. Otherwise it is read completely, if it fits in memory. */
function largeFile(file: string, size: number): LargeFile | undefined {
  const large = new LargeFile(file)
  if (isReadByLine({ name: basename(file), text: large.head() })) return large
  if (!canBeWhole(size)) throw tooLarge(`${basename(file)} is larger`)
  return undefined
}

/** The error is reported when the file is read. */
const noFile = () => ({ size: 0, isFile: false })

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new ImportError(
      `${file} cannot be read (${errorReason(error)}). Nothing was imported. Check the path and the permissions.`,
      { cause: error },
    )
  }
}
