/**
 * A Unix socket that receives messages from other conversations of the same user. Its directory is private to the user, and each message
 * must carry the token from the file next to the socket. A connection transfers one line and its reply, within seconds.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import { chmod, lstat, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { createConnection, createServer, type Server, type Socket } from "node:net"
import { dirname, join } from "node:path"
import { type Clock, callAfter, validateId } from "../base/clock.ts"
import { errorMessage, StrataError } from "../base/errors.ts"
import { FILE_MODE } from "../journal/file/layout.ts"
import { isOwnerAlive, type OwnerIdentity, thisProcess } from "../journal/file/lock-owner.ts"
import { makeDirectory } from "../journal/file/make-directory.ts"
import { bool, fields, integer, isRecord, maybe, record, text } from "../messages/shapes/shapes.ts"

const MAX_LINE_BYTES = 256 * 1024 // the longest message with every character escaped
const MAX_SECONDS = 5 // for one message and its reply
const MAX_CONNECTIONS = 16
const MAX_PATH_BYTES = 100 // operating systems allow 104 to 108 bytes
const TOKEN_BYTES = 32

/** Creates the error for a message that could not be delivered. The text is a sentence for the model. */
const socketError = (why: string) => new StrataError(why, { code: "socket" })

/** A message from one conversation to another. */
export interface SocketMessage {
  /** Id of the sender's conversation. Not verified: the token only proves that the sender is the same user. */
  readonly from: string
  /** Owner of the sender, as identified by `circleOf`. Absent: the local user. */
  readonly circle?: string
  readonly content: Readonly<Record<string, unknown>>
}

/** Whether the process that has a conversation open accepted a message, or a sentence with the reason why not. */
export type SocketReply = { readonly accepted: true } | { readonly accepted: false; readonly why: string }

export interface SocketOptions {
  /** Strata's root directory. */
  readonly root: string
  /** Id of the conversation that listens. */
  readonly conversation: string
  readonly circle?: string | undefined
  readonly clock: Clock
  /** Accepts a message, or refuses it with a reason. */
  readonly receive: (message: SocketMessage) => SocketReply
}

export interface OpenSocket {
  /** Path of the socket, for addresses of the form `uds:<path>`. */
  readonly path: string
  close(): Promise<void>
}

const socketsDirectory = (root: string) => join(root, "sockets")

/** Opens the socket of a conversation and removes files of dead processes. */
export async function openSocket(options: SocketOptions): Promise<OpenSocket> {
  const directory = socketsDirectory(options.root)
  await makeDirectory(directory)
  await requirePrivate(directory, "directory")
  await removeStale(directory)
  const name = entryName(options)
  const files = socketFiles(directory, name)
  if (Buffer.byteLength(files.socket) > MAX_PATH_BYTES)
    throw socketError(`${files.socket} is too long for the path of a socket. Choose a shorter STRATA_HOME.`)
  const token = randomBytes(TOKEN_BYTES).toString("hex")
  const { since: _, token: __, ...owner } = await thisProcess("")
  await rm(files.socket, { force: true })
  await writePrivate(files.token, token)
  const server = await listen(files.socket, (socket) => serve(socket, { ...options, token }))
  await chmod(files.socket, FILE_MODE)
  await writePrivate(files.entry, JSON.stringify({ conversation: name, socket: files.socket, ...owner }))
  return {
    path: files.socket,
    async close() {
      await removeFiles(files)
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Sends a message to the conversation that listens on this socket. */
export async function sendToSocket(path: string, message: SocketMessage, clock: Clock): Promise<SocketReply> {
  const files = { socket: path, token: tokenPath(path) }
  await requirePrivate(dirname(path), "directory")
  await requirePrivate(files.socket, "socket")
  await requirePrivate(files.token, "file")
  const token = (await readFile(files.token, "utf8")).trim()
  return exchange(path, `${JSON.stringify({ token, ...message })}\n`, clock)
}

/** Finds the socket of an open conversation by its id and owner. */
export async function findSocket(root: string, address: SocketAddress): Promise<string> {
  const { conversation } = address
  const directory = socketsDirectory(root)
  const files = socketFiles(directory, entryName(address))
  const entry = await readEntry(files.entry)
  if (entry && (await isOwnerAlive(entry))) return files.socket
  if (entry) await removeFiles(files)
  throw socketError(`The conversation ${conversation} is not open, so nothing was sent.`)
}

interface SocketFiles {
  readonly socket: string
  readonly token: string
  readonly entry: string
}

export type SocketAddress = Pick<SocketOptions, "conversation" | "circle">

/**
 * Hashes the id together with the owner: two owners may use the same id, and no owner's name may appear in a directory that others can
 * list.
 */
function entryName({ conversation, circle }: SocketAddress): string {
  const id = validateId("conversation id", conversation)
  return circle ? hash("sha256", `${circle}/${id}`, "hex").slice(0, 40) : id
}

/** Hashes the name, because a socket's path must be short. */
function socketFiles(directory: string, conversation: string): SocketFiles {
  const socket = join(directory, `${hash("sha256", conversation, "hex").slice(0, 16)}.sock`)
  return { socket, token: tokenPath(socket), entry: join(directory, `${conversation}.json`) }
}

const tokenPath = (socket: string): string => `${socket.replace(/\.sock$/, "")}.token`

async function removeFiles({ socket, token, entry }: SocketFiles): Promise<void> {
  for (const path of [entry, socket, token]) await rm(path, { force: true })
}

interface SocketEntry extends OwnerIdentity {
  readonly conversation: string
}

const checkEntry = fields(
  { conversation: text(), socket: text(), pid: integer(), host: text(), started: text() },
  "open",
)

async function readEntry(path: string): Promise<SocketEntry | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"))
    return checkEntry(value) === undefined ? (value as SocketEntry) : undefined
  } catch {
    return undefined
  }
}

async function removeStale(directory: string): Promise<void> {
  for (const name of (await readdir(directory)).filter((file) => file.endsWith(".json"))) {
    const entry = await readEntry(join(directory, name))
    if (entry?.conversation === name.slice(0, -".json".length) && !(await isOwnerAlive(entry)))
      await removeFiles(socketFiles(directory, entry.conversation))
  }
}

/**
 * Throws unless the path belongs to this user and no other user can access it: another user could read messages, or answer in this
 * conversation's name.
 */
async function requirePrivate(path: string, kind: "directory" | "socket" | "file"): Promise<void> {
  const facts = await lstat(path).catch(() => undefined)
  if (facts === undefined) throw socketError(`There is no ${kind} ${path}, so nothing was sent.`)
  const isKind = kind === "directory" ? facts.isDirectory() : kind === "socket" ? facts.isSocket() : facts.isFile()
  if (!isKind) throw socketError(`${path} is not a ${kind}, so nothing was sent.`)
  if (facts.uid !== process.getuid?.()) throw socketError(`${path} belongs to another user, so nothing was sent.`)
  if ((facts.mode & 0o077) !== 0) throw socketError(`${path} is open to other users, so nothing was sent.`)
}

async function writePrivate(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`
  await rm(draft, { force: true })
  await writeFile(draft, content, { mode: FILE_MODE, flag: "wx" })
  await rename(draft, path)
}

function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection)
  server.maxConnections = MAX_CONNECTIONS
  server.unref() // lets the process exit while the socket is open
  return new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(path, () => resolve(server.off("error", reject)))
  })
}

interface ServeOptions extends Pick<SocketOptions, "clock" | "receive"> {
  readonly token: string
}

const checkMessage = fields({ token: text(), from: text(), circle: maybe(text()), content: record }, "closed")

function serve(socket: Socket, { clock, receive, token }: ServeOptions): void {
  onLine(socket, clock, (line) => {
    const message = parseJson(line)
    if (
      !isRecord(message) ||
      checkMessage(message) !== undefined ||
      !isEqualInConstantTime(String(message.token), token)
    )
      return socket.destroy()
    const { token: _, ...sent } = message as unknown as SocketMessage & { readonly token: string }
    socket.end(`${JSON.stringify(receive(sent))}\n`)
  })
}

const checkReply = fields({ accepted: bool, why: maybe(text({ max: 2_000 })) }, "open")

async function exchange(path: string, line: string, clock: Clock): Promise<SocketReply> {
  const socket = createConnection(path)
  const reply = Promise.withResolvers<SocketReply>()
  const fail = (why: string) => reply.reject(socketError(`The conversation at ${path} ${why}. Nothing was sent.`))
  onLine(socket, clock, (text) => {
    const value = parseJson(text)
    if (checkReply(value) === undefined) reply.resolve(value as SocketReply)
    socket.destroy()
  })
  socket.on("error", (error) => fail(`cannot be reached (${errorMessage(error)})`))
  socket.on("close", () => fail("did not take the message"))
  socket.write(line)
  return reply.promise
}

/** Calls back with the first line. A peer that sends too much or takes too long is disconnected. */
function onLine(socket: Socket, clock: Clock, call: (line: string) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const stopTimer = callAfter(clock, 1000 * MAX_SECONDS, () => socket.destroy())
  socket.on("close", stopTimer)
  socket.on("error", () => socket.destroy())
  const onData = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_LINE_BYTES) return void socket.destroy()
    chunks.push(chunk)
    if (!chunk.includes("\n")) return
    socket.off("data", onData)
    const all = Buffer.concat(chunks)
    call(all.toString("utf8", 0, all.indexOf("\n")))
  }
  socket.on("data", onData)
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Compares two texts in constant time. */
const isEqualInConstantTime = (a: string, b: string): boolean =>
  timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"))
