/** Batches and files, as the SDK uses them. */
import { toFile } from "@anthropic-ai/sdk"
import { describe, expect, test } from "vitest"
import { client, hello, scripted, simulator } from "../test/simulator.ts"

const requests = [
  { custom_id: "good", params: hello() },
  { custom_id: "bad", params: hello({ colour: "red" }) },
] as never

describe("BEY-8 batches", () => {
  test("BEY-8 a batch is made, ends, and gives a result for each request at half the price", async () => {
    const sim = await simulator({ responder: scripted("Hello!", "Hello!") })
    const { batches } = client(sim).messages
    await client(sim).messages.create(hello() as never)
    const { dollars } = sim.stats().total

    const made = await batches.create({ requests })
    expect(made).toMatchObject({ type: "message_batch", processing_status: "in_progress", results_url: null })
    expect(made.id).toMatch(/^msgbatch_/)
    const ended = await batches.retrieve(made.id)
    expect(ended).toMatchObject({
      processing_status: "ended",
      request_counts: { processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 0 },
    })
    const results = []
    for await (const result of await batches.results(made.id)) results.push(result)
    expect(results).toMatchObject([
      {
        custom_id: "good",
        result: { type: "succeeded", message: { content: [{ text: "Hello!" }], usage: { service_tier: "batch" } } },
      },
      { custom_id: "bad", result: { type: "errored", error: { error: { type: "invalid_request_error" } } } },
    ])
    expect(sim.stats().total.dollars).toBeCloseTo(dollars * 1.5, 12)
    expect((await batches.list()).data.map(({ id }) => id)).toEqual([made.id])
    expect(await batches.delete(made.id)).toEqual({ id: made.id, type: "message_batch_deleted" })
    await expect(batches.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
  })

  test("BEY-8 a canceled batch ends without answers", async () => {
    const { batches } = client(await simulator()).messages
    const { id } = await batches.create({ requests })
    expect(await batches.cancel(id)).toMatchObject({ processing_status: "canceling" })
    expect(await batches.retrieve(id)).toMatchObject({ processing_status: "ended", request_counts: { canceled: 2 } })
  })

  test("BEY-8 no requests, or an id twice: refused", async () => {
    const { batches } = client(await simulator()).messages
    await expect(batches.create({ requests: [] })).rejects.toMatchObject({ status: 400 })
    const twice = [1, 2].map(() => ({ custom_id: "same", params: hello() }))
    await expect(batches.create({ requests: twice as never })).rejects.toMatchObject({ status: 400 })
  })
})

describe("BEY-8 files", () => {
  test("BEY-8 a file is uploaded, listed, shown and deleted; its content stays with the server", async () => {
    const { files } = client(await simulator()).beta
    const stored = await files.upload({ file: await toFile(Buffer.from("hello"), "a.txt", { type: "text/plain" }) })
    expect(stored).toMatchObject({ type: "file", filename: "a.txt", mime_type: "text/plain", size_bytes: 5 })
    expect((await files.list()).data).toEqual([stored])
    expect(await files.retrieveMetadata(stored.id)).toEqual(stored)
    await expect(files.download(stored.id)).rejects.toMatchObject({ status: 400 })
    expect(await files.delete(stored.id)).toEqual({ id: stored.id, type: "file_deleted" })
    await expect(files.retrieveMetadata(stored.id)).rejects.toMatchObject({ status: 404 })
  })
})
