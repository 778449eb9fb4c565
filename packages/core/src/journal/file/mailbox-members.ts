/** The members of a team on disk: one small file per name, with its process and how far it has read. */
import { readFileSync, renameSync } from "node:fs"
import { readdir, rm, stat, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { isSafeId, validateId } from "../../base/clock.ts"
import { bool, fields, integer, maybe, text } from "../../messages/shapes/shapes.ts"
import { type MailboxCursor, MemberNameTakenError, type TeamMember } from "../mailbox.ts"
import { FILE_MODE } from "./layout.ts"
import { isOwnerAlive, type LockOwner } from "./lock-owner.ts"
import { makeDirectory } from "./make-directory.ts"

export interface MemberFile
  extends TeamMember,
    Pick<LockOwner, "pid" | "host" | "started" | "token" | "boot" | "space" | "machine"> {
  /** The member has saved everything before this position. */
  readonly cursor?: MailboxCursor
  /** Set while the member waits for messages. It has read everything before this position. */
  readonly idleAt?: MailboxCursor
  readonly hasLeft: boolean
}

const CURSOR = /^\d{1,8}:\d{1,15}$/

const flaw = fields(
  {
    name: text(),
    conversation: text(),
    pid: integer(),
    host: text(),
    started: text(),
    token: text(),
    boot: maybe(text()),
    space: maybe(text()),
    machine: maybe(text()),
    cursor: maybe(text({ pattern: CURSOR })),
    idleAt: maybe(text({ pattern: CURSOR })),
    hasLeft: bool,
  },
  "open",
)

const folder = (directory: string) => join(directory, "members")
const memberFile = (directory: string, name: string) =>
  join(folder(directory), `${validateId("name for an agent", name)}.json`)

/** A damaged file counts as missing: the name is free, and its next holder reads from the start. */
export function readMember(directory: string, name: string): MemberFile | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(memberFile(directory, name), "utf8"))
    return flaw(value) === undefined && (value as MemberFile).name === name ? (value as MemberFile) : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/** The token serves as the fence: the file is not written if another process has taken the name. */
export async function writeMember(directory: string, member: MemberFile): Promise<void> {
  const path = memberFile(directory, member.name)
  const draft = await writeMemberDraft(directory, member)
  try {
    mustHaveName(directory, member)
    renameSync(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    mustHaveName(directory, member) // a process that takes a name removes drafts of others
    throw error
  }
}

/**
 * Gives the name to a member, under the team's lock. The previous process may be paused just before it publishes its draft. So drafts of
 * other processes are removed afterwards, and one published in between is replaced.
 */
export async function takeMember(directory: string, member: MemberFile): Promise<void> {
  const path = memberFile(directory, member.name)
  const start = `${basename(path)}.`
  do {
    renameSync(await writeMemberDraft(directory, member), path)
    const others = (await readdir(folder(directory))).filter((name) => name.startsWith(start))
    for (const name of others) await rm(join(folder(directory), name), { force: true })
  } while (readMember(directory, member.name)?.token !== member.token)
}

async function writeMemberDraft(directory: string, member: MemberFile): Promise<string> {
  await makeDirectory(folder(directory))
  const draft = `${memberFile(directory, member.name)}.${member.token.slice(0, 8)}`
  await writeFile(draft, JSON.stringify(member), { mode: FILE_MODE })
  return draft
}

function mustHaveName(directory: string, { name, token }: MemberFile): void {
  const found = readMember(directory, name)
  if (found && found.token !== token) throw new MemberNameTakenError(name, found.pid)
}

export interface MemberOnDisk extends MemberFile {
  readonly isRunning: boolean
  /** When the member last saved its read position, or joined. */
  readonly touched: Date
}

/** All members that have not left, sorted by name. */
export async function listMembers(directory: string): Promise<readonly MemberOnDisk[]> {
  const names = await readdir(folder(directory)).catch(() => [] as string[])
  const ids = names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length))
  const found: MemberOnDisk[] = []
  for (const name of ids.filter(isSafeId).sort()) {
    const member = readMember(directory, name)
    const facts = await stat(memberFile(directory, name)).catch(() => undefined)
    if (!member || !facts || member.hasLeft) continue
    found.push({ ...member, isRunning: await isOwnerAlive(member), touched: facts.mtime })
  }
  return found
}
