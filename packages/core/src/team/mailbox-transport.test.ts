import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import { isWhole } from "../../test/size.ts"
import { systemClock } from "../base/clock.ts"
import { MailboxDirectory } from "../journal/file/mailbox-directory.ts"
import { MailboxTransport } from "./mailbox-transport.ts"

test("L7-5 a member that waits gets what another one sent right before it began to wait, too", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const options = { directory: join(root, "team"), flush: "never", clock: systemClock } as const
  const other = new MailboxDirectory(options)
  const knower = await other.join({ name: "knower", conversation: "chat-knower" })
  const asker = await MailboxTransport.join({
    mailbox: new AnsweredBeforeLook(options, async () => {
      const { cursor } = await other.send({ from: "knower", to: ["asker"], content: { text: "It is 42.", hops: 1 } })
      await knower.setIdle(cursor)
    }),
    circle: "",
    place: { name: "pair", as: "asker" },
    conversation: "chat-asker",
    journaled: () => undefined,
    clock: systemClock,
    onArrival: () => undefined,
    onProblem: (problem) => expect.fail(problem),
  })
  expect(await asker.whenAny(new AbortController().signal)).toBe(true)
  expect(await asker.take()).toMatchObject([{ attachment: { from: "knower", content: "It is 42." } }])
  await asker.close()
  await other.close()
})

test.runIf(isWhole)(
  "BEY-12, L7-5 a process that only waits for another member stays, also where its store keeps none alive",
  async () => {
    const source = `
    import { systemClock } from ${sourceOf("../base/clock.ts")}
    import { memoryStore } from ${sourceOf("../journal/in-memory/store.ts")}
    import { MailboxTransport } from ${sourceOf("./mailbox-transport.ts")}
    const store = memoryStore()
    const mailbox = () => store.mailboxes({ project: "p", team: "pair" })
    const knower = await mailbox().join({ name: "knower", conversation: "chat-knower" })
    const asker = await MailboxTransport.join({
      mailbox: mailbox(), circle: "", place: { name: "pair", as: "asker" }, conversation: "chat-asker",
      journaled: () => undefined, clock: systemClock,
      onArrival: () => undefined, onProblem: (problem) => console.log(problem),
    })
    setTimeout(() => knower.leave(), 20).unref()
    console.log("waited", await asker.whenAny(new AbortController().signal))`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", source])
    expect(stdout).toBe("waited false\n")
  },
)

const sourceOf = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)

/** The other member answers and becomes idle just before the first look at who is working, and sends no other signal. */
class AnsweredBeforeLook extends MailboxDirectory {
  #answer: (() => Promise<void>) | undefined

  constructor(options: ConstructorParameters<typeof MailboxDirectory>[0], answer: () => Promise<void>) {
    super(options)
    this.#answer = answer
  }

  override async members() {
    const answer = this.#answer
    this.#answer = undefined
    await answer?.()
    return super.members()
  }

  override arrival(_after: string | undefined, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()))
  }
}
