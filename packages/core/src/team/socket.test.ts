import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises"
import { createConnection, createServer } from "node:net"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import { manualClock } from "../base/clock.ts"
import { findSocket, openSocket, type SocketMessage, type SocketReply, sendToSocket } from "./socket.ts"

const clock = manualClock()

async function listening(answer: SocketReply = { accepted: true }) {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const received: SocketMessage[] = []
  const receive = (message: SocketMessage) => {
    received.push(message)
    return answer
  }
  const socket = await openSocket({ root, conversation: "chat-1", clock, receive })
  onTestFinished(() => socket.close())
  return { root, socket, received, directory: dirname(socket.path), token: socket.path.replace(/sock$/, "token") }
}

const message = { from: "chat-2", content: { text: "héllo\n四", hops: 1 } }

/** Sends these bytes and resolves with the reply. */
const answerTo = (path: string, bytes: string | Buffer) =>
  new Promise<string>((resolve) => {
    const client = createConnection(path)
    let got = ""
    client.on("data", (chunk) => {
      got += chunk.toString()
    })
    client.on("error", () => undefined)
    client.on("close", () => resolve(got))
    client.write(bytes)
  })

test("L7-5 a conversation reaches another one by its id or its socket, and gets its answer", async () => {
  const { root, socket, received } = await listening()
  expect(await findSocket(root, { conversation: "chat-1" })).toBe(socket.path)
  expect(await sendToSocket(socket.path, message, clock)).toEqual({ accepted: true })
  expect(received).toEqual([message])
  const { socket: full } = await listening({ accepted: false, why: "50 messages wait already." })
  expect(await sendToSocket(full.path, message, clock)).toEqual({ accepted: false, why: "50 messages wait already." })
})

test("L7-5 the socket and its token are for their owner only, and go with the conversation", async () => {
  const { root, socket, directory, token } = await listening()
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  for (const path of [socket.path, token, join(directory, "chat-1.json")])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readFile(token, "utf8")).toMatch(/^[0-9a-f]{64}$/)
  await socket.close()
  expect(await readdir(directory)).toEqual([])
  await expect(findSocket(root, { conversation: "chat-1" })).rejects.toThrow(
    "The conversation chat-1 is not open, so nothing was sent.",
  )
})

test("L7-5 a message without the right token, or something else, gets no answer", async () => {
  const { socket, received, token } = await listening()
  const right = await readFile(token, "utf8")
  const lines = [
    JSON.stringify(message),
    JSON.stringify({ token: "", ...message }),
    JSON.stringify({ token: right.slice(1), ...message }),
    JSON.stringify({ token: `${right} `, ...message }),
    JSON.stringify({ token: [right], ...message }),
    JSON.stringify({ token: right, from: "x" }),
    JSON.stringify({ token: right, from: "x", content: "text" }),
    JSON.stringify({ token: right, ...message, role: "user" }),
    "GET / HTTP/1.1",
    "\0\xff",
    "",
  ]
  for (const line of lines) expect(await answerTo(socket.path, `${line}\n`)).toBe("")
  expect(received).toEqual([])
  expect(await answerTo(socket.path, `${JSON.stringify({ token: right, ...message })}\n`)).toBe('{"accepted":true}\n')
})

test("L7-5 a client that sends too much or nothing is cut off, and others are served meanwhile", async () => {
  const { socket, received } = await listening()
  expect(await answerTo(socket.path, Buffer.alloc(300 * 1024, 0x78))).toBe("")
  const slow = createConnection(socket.path)
  const closed = new Promise<void>((resolve) => slow.on("close", () => resolve()))
  await new Promise<void>((resolve) => slow.on("connect", () => resolve()))
  slow.write("{")
  expect(await sendToSocket(socket.path, message, clock)).toEqual({ accepted: true })
  clock.advance(5_000)
  await closed
  expect(received).toHaveLength(1)
})

test("L7-5 a conversation that does not answer is given up", async () => {
  const { directory, token } = await listening()
  const path = join(directory, "silent.sock")
  await writeFile(join(directory, "silent.token"), await readFile(token), { mode: 0o600 })
  const connected = Promise.withResolvers<void>()
  const server = createServer(() => connected.resolve()).listen(path)
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.on("listening", resolve))
  await chmod(path, 0o600)
  const sent = sendToSocket(path, message, clock)
  await connected.promise
  clock.advance(5_000)
  await expect(sent).rejects.toThrow("did not take the message. Nothing was sent.")
})

test("L7-5 nothing is sent to a socket that others could have put there", async () => {
  const { root, socket, directory, token } = await listening()
  const refusal = (path: string) => sendToSocket(path, message, clock).catch((error: Error) => error)
  const open = join(root, "open")
  await mkdir(open, { mode: 0o755 })
  expect(String(await refusal(join(open, "x.sock")))).toContain("is open to other users")
  await symlink(socket.path, join(directory, "link.sock"))
  expect(String(await refusal(join(directory, "link.sock")))).toContain("is not a socket")
  expect(String(await refusal(join(directory, "none.sock")))).toContain("There is no socket")
  await chmod(token, 0o644)
  expect(String(await refusal(socket.path))).toContain("is open to other users")
  await chmod(directory, 0o755)
  expect(await refusal(socket.path)).toMatchObject({ code: "socket" })
  await expect(
    openSocket({ root, conversation: "chat-3", clock, receive: () => ({ accepted: true }) }),
  ).rejects.toThrow("is open to other users")
})

test("L7-5 what a killed conversation left is removed", async () => {
  const { root, directory } = await listening()
  const dead = { conversation: "dead", socket: "x", pid: 2 ** 22 - 3, host: hostname(), started: "1" }
  await writeFile(join(directory, "dead.json"), JSON.stringify(dead))
  await expect(findSocket(root, { conversation: "dead" })).rejects.toMatchObject({ code: "socket" })
  expect((await readdir(directory)).includes("dead.json")).toBe(false)
  await writeFile(join(directory, "dead.json"), JSON.stringify(dead))
  const second = await openSocket({ root, conversation: "chat-2", clock, receive: () => ({ accepted: true }) })
  expect((await readdir(directory)).includes("dead.json")).toBe(false)
  await second.close()
  const far = join(root, "x".repeat(100))
  await expect(
    openSocket({ root: far, conversation: "c", clock, receive: () => ({ accepted: true }) }),
  ).rejects.toThrow("too long for the path of a socket")
})
