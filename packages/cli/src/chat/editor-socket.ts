/**
 * A Unix socket through which the user's editor reports its open file and selection. A connection carries lines of JSON, and each is
 * answered with one line. Only the owner can use the socket and its directory. Its input is data and never a message of the user.
 */
import { chmod, lstat, mkdir, rm } from "node:fs/promises"
import { connect, createServer, type Socket } from "node:net"
import { dirname } from "node:path"
import type { EditorState } from "@strata/core"
import { errorReason } from "@strata/core/base"

const MAX_LINE_BYTES = 512 * 1024 // enough for the longest selection, escaped
const MAX_SELECTION = 50_000 // characters
const MAX_PATH = 4_096 // characters
const MAX_CONNECTIONS = 8

export interface EditorSocket {
  readonly path: string
  close(): Promise<void>
}

/** Variable with the path of the socket. If it is set, the socket is opened at the start. */
export const EDITOR_SOCKET = "STRATA_EDITOR_SOCKET"

/** The editor's state and the socket that receives it. Opened on first use. */
export class EditorLink {
  readonly #path: string
  readonly #show: (state: EditorState | undefined) => void
  #socket: Promise<EditorSocket> | undefined
  state: EditorState | undefined

  constructor({ path, show }: { readonly path: string; readonly show: (state: EditorState | undefined) => void }) {
    this.#path = path
    this.#show = show
  }

  async open(): Promise<string> {
    this.#socket ??= openEditorSocket(this.#path, (state) => {
      this.state = state
      this.#show(state)
    }).catch((error: unknown) => {
      this.#socket = undefined
      throw new Error(
        `The editor's socket ${this.#path} could not be opened: ${errorReason(error)}. Set ${EDITOR_SOCKET} to another path.`,
      )
    })
    return (await this.#socket).path
  }

  async close(): Promise<void> {
    const socket = await this.#socket?.catch(() => undefined)
    await socket?.close()
  }
}

/** `show` receives each valid state; `undefined` means that no file is open. */
export async function openEditorSocket(
  path: string,
  show: (state: EditorState | undefined) => void,
): Promise<EditorSocket> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await removeStaleSocket(path)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on("close", () => open.delete(socket))
    serve(socket, show)
  })
  server.maxConnections = MAX_CONNECTIONS
  server.unref() // the socket does not keep the process alive
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    const before = process.umask(0o177) // the socket is created in this call, readable by the owner only
    server.listen(path, () => resolve(void server.off("error", reject)))
    process.umask(before)
  })
  await chmod(path, 0o600)
  return {
    path,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(path, { force: true })
    },
  }
}

/** Removes a socket left by a killed process. Other files, and sockets in use by another chat, stay. */
async function removeStaleSocket(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined)
  if (there === undefined) return
  if (!there.isSocket()) throw new Error("it is not a socket, and it was left as it is")
  if (await isAnswering(path)) throw new Error("another chat uses it")
  await rm(path, { force: true })
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })
}

function serve(socket: Socket, show: (state: EditorState | undefined) => void): void {
  let waiting = Buffer.alloc(0)
  const answer = (value: object) => socket.write(`${JSON.stringify(value)}\n`)
  socket.on("error", () => socket.destroy())
  socket.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk])
    for (let end = waiting.indexOf(10); end >= 0; end = waiting.indexOf(10)) {
      const line = waiting.toString("utf8", 0, end)
      waiting = waiting.subarray(end + 1)
      if (line.trim() === "") continue
      try {
        show(readState(line))
        answer({ ok: true })
      } catch (error) {
        answer({ ok: false, error: errorReason(error) })
      }
    }
    if (waiting.length <= MAX_LINE_BYTES) return
    answer({ ok: false, error: `A line may have ${MAX_LINE_BYTES} bytes. The connection is closed.` })
    socket.destroySoon()
  })
}

/** Parses a line. Error messages are for the author of the editor plug-in. */
export function readState(line: string): EditorState | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new Error("The line is not JSON.")
  }
  if (typeof value !== "object" || value === null) throw new Error("The line must be a JSON object.")
  const { file, selection } = value as Readonly<Record<string, unknown>>
  if (file === null) return undefined
  if (typeof file !== "string" || file === "" || file.length > MAX_PATH || /\p{Cc}/u.test(file))
    throw new Error('"file" must be the path of a file, or null if none is open.')
  const path = file.toWellFormed()
  if (selection === undefined || selection === null) return { type: "editor_file", path }
  const { text, startLine, endLine } = selection as Readonly<Record<string, unknown>>
  if (typeof text !== "string" || text.length > MAX_SELECTION)
    throw new Error(`"selection.text" must be a text of at most ${MAX_SELECTION} characters.`)
  if (!isLine(startLine) || !isLine(endLine) || endLine < startLine)
    throw new Error('"selection.startLine" and "selection.endLine" must be line numbers from 1, in order.')
  if (text === "") return { type: "editor_file", path } // a cursor without a selection
  return { type: "editor_selection", path, fromLine: startLine, toLine: endLine, content: text.toWellFormed() }
}

const isLine = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1
