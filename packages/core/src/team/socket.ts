/**
 * A Unix socket through which other conversations of the same user send messages to this one. The directory is for its owner only, and
 * each message must bring the token from the file beside the socket. A connection carries one line and its answer, within seconds.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import { chmod, lstat, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { createConnection, createServer, type Server, type Socket } from "node:net"
import { dirname, join } from "node:path"
import { type Clock, callAfter, checkedId } from "../base/clock.ts"
import { messageOf, StrataError } from "../base/errors.ts"
import { FILE_MODE } from "../journal/file/layout.ts"
import { type Holder, isAlive, thisProcess } from "../journal/file/lock-owner.ts"
import { makeDirectory } from "../journal/file/make-directory.ts"
import { fields, flag, isRecord, maybe, record, text, whole } from "../messages/shapes/shapes.ts"

const MAX_LINE_BYTES = 256 * 1024 // the longest message, every character escaped
const MAX_SECONDS = 5 // for one message and its answer
const MAX_CONNECTIONS = 16
const MAX_PATH_BYTES = 100 // the system allows 104 to 108 bytes for a socket's path
const TOKEN_BYTES = 32

/** A message could not be handed to another conversation. The text is a sentence for the model. */
const socketError = (why: string) => new StrataError(why, { code: "socket" })

/** What one conversation sends to another. */
export interface SocketMessage {
  /** The id of the sender's conversation. It is a claim: the token proves only that it is the same user. */
  readonly from: string
  /** Whose the sender is, as `circleOf` names it. Absent: the local person's. */
  readonly circle?: string
  readonly content: Readonly<Record<string, unknown>>
}

/** Whether the process that has a conversation open took a message, else why not, as a sentence. */
export type SocketReply = { readonly accepted: true } | { readonly accepted: false; readonly why: string }

export interface SocketOptions {
  /** The directory that Strata keeps its files in. */
  readonly root: string
  /** The id of the conversation that listens, and whose it is. */
  readonly conversation: string
  readonly circle?: string | undefined
  readonly clock: Clock
  /** Takes a message, or says why not. */
  readonly receive: (message: SocketMessage) => SocketReply
}

export interface OpenSocket {
  /** For `uds:<path>`. */
  readonly path: string
  close(): Promise<void>
}

const socketsDirectory = (root: string) => join(root, "sockets")

/** Opens the socket of a conversation. What dead processes left is removed. */
export async function openSocket(options: SocketOptions): Promise<OpenSocket> {
  const directory = socketsDirectory(options.root)
  await makeDirectory(directory)
  await mustBeOwn(directory, "directory")
  await removeStale(directory)
  const name = nameOf(options)
  const place = placeOf(directory, name)
  if (Buffer.byteLength(place.socket) > MAX_PATH_BYTES)
    throw socketError(`${place.socket} is too long for the path of a socket. Choose a shorter STRATA_HOME.`)
  const token = randomBytes(TOKEN_BYTES).toString("hex")
  const { since: _, token: __, ...owner } = await thisProcess("")
  await rm(place.socket, { force: true })
  await writeOwn(place.token, token)
  const server = await listen(place.socket, (socket) => serve(socket, { ...options, token }))
  await chmod(place.socket, FILE_MODE)
  await writeOwn(place.entry, JSON.stringify({ conversation: name, socket: place.socket, ...owner }))
  return {
    path: place.socket,
    async close() {
      await removePlace(place)
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Sends to the conversation whose socket has this path. */
export async function sendToSocket(path: string, message: SocketMessage, clock: Clock): Promise<SocketReply> {
  const place = { socket: path, token: tokenBeside(path) }
  await mustBeOwn(dirname(path), "directory")
  await mustBeOwn(place.socket, "socket")
  await mustBeOwn(place.token, "file")
  const token = (await readFile(place.token, "utf8")).trim()
  return exchange(path, `${JSON.stringify({ token, ...message })}\n`, clock)
}

/** The socket of an open conversation, by its id and by whose it is. */
export async function findSocket(root: string, address: SocketAddress): Promise<string> {
  const { conversation } = address
  const directory = socketsDirectory(root)
  const place = placeOf(directory, nameOf(address))
  const entry = await readEntry(place.entry)
  if (entry && (await isAlive(entry))) return place.socket
  if (entry) await removePlace(place)
  throw socketError(`The conversation ${conversation} is not open, so nothing was sent.`)
}

interface Place {
  readonly socket: string
  readonly token: string
  readonly entry: string
}

export type SocketAddress = Pick<SocketOptions, "conversation" | "circle">

/** Two owners may use the same id, and no name of one may show in a directory that others list. */
function nameOf({ conversation, circle }: SocketAddress): string {
  const id = checkedId("conversation id", conversation)
  return circle ? hash("sha256", `${circle}/${id}`, "hex").slice(0, 40) : id
}

/** Names are hashed, because a socket's path must be short. */
function placeOf(directory: string, conversation: string): Place {
  const socket = join(directory, `${hash("sha256", conversation, "hex").slice(0, 16)}.sock`)
  return { socket, token: tokenBeside(socket), entry: join(directory, `${conversation}.json`) }
}

const tokenBeside = (socket: string): string => `${socket.replace(/\.sock$/, "")}.token`

async function removePlace({ socket, token, entry }: Place): Promise<void> {
  for (const path of [entry, socket, token]) await rm(path, { force: true })
}

interface Entry extends Holder {
  readonly conversation: string
}

const entryFlaw = fields({ conversation: text(), socket: text(), pid: whole(), host: text(), started: text() }, "open")

async function readEntry(path: string): Promise<Entry | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"))
    return entryFlaw(value) === undefined ? (value as Entry) : undefined
  } catch {
    return undefined
  }
}

async function removeStale(directory: string): Promise<void> {
  for (const name of (await readdir(directory)).filter((file) => file.endsWith(".json"))) {
    const entry = await readEntry(join(directory, name))
    if (entry?.conversation === name.slice(0, -".json".length) && !(await isAlive(entry)))
      await removePlace(placeOf(directory, entry.conversation))
  }
}

/** Others could listen in, or answer in the place of a conversation, if they could write here. */
async function mustBeOwn(path: string, kind: "directory" | "socket" | "file"): Promise<void> {
  const facts = await lstat(path).catch(() => undefined)
  if (facts === undefined) throw socketError(`There is no ${kind} ${path}, so nothing was sent.`)
  const isKind = kind === "directory" ? facts.isDirectory() : kind === "socket" ? facts.isSocket() : facts.isFile()
  if (!isKind) throw socketError(`${path} is not a ${kind}, so nothing was sent.`)
  if (facts.uid !== process.getuid?.()) throw socketError(`${path} belongs to another user, so nothing was sent.`)
  if ((facts.mode & 0o077) !== 0) throw socketError(`${path} is open to other users, so nothing was sent.`)
}

async function writeOwn(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`
  await rm(draft, { force: true })
  await writeFile(draft, content, { mode: FILE_MODE, flag: "wx" })
  await rename(draft, path)
}

function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection)
  server.maxConnections = MAX_CONNECTIONS
  server.unref() // a conversation that has nothing else to do may end
  return new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(path, () => resolve(server.off("error", reject)))
  })
}

interface Serving extends Pick<SocketOptions, "clock" | "receive"> {
  readonly token: string
}

const messageFlaw = fields({ token: text(), from: text(), circle: maybe(text()), content: record }, "closed")

function serve(socket: Socket, { clock, receive, token }: Serving): void {
  onLine(socket, clock, (line) => {
    const message = parsed(line)
    if (!isRecord(message) || messageFlaw(message) !== undefined || !isSame(String(message.token), token))
      return socket.destroy()
    const { token: _, ...sent } = message as unknown as SocketMessage & { readonly token: string }
    socket.end(`${JSON.stringify(receive(sent))}\n`)
  })
}

const answerFlaw = fields({ accepted: flag, why: maybe(text({ max: 2_000 })) }, "open")

async function exchange(path: string, line: string, clock: Clock): Promise<SocketReply> {
  const socket = createConnection(path)
  const answer = Promise.withResolvers<SocketReply>()
  const fail = (why: string) => answer.reject(socketError(`The conversation at ${path} ${why}. Nothing was sent.`))
  onLine(socket, clock, (text) => {
    const value = parsed(text)
    if (answerFlaw(value) === undefined) answer.resolve(value as SocketReply)
    socket.destroy()
  })
  socket.on("error", (error) => fail(`cannot be reached (${messageOf(error)})`))
  socket.on("close", () => fail("did not take the message"))
  socket.write(line)
  return answer.promise
}

/** Calls back with the first line. A peer that sends too much, or takes too long, is cut off. */
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

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Compares in the same time wherever the texts differ. */
const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"))
