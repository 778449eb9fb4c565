/** One event of a stream, as sent over the wire. */
export type StreamEvent = { readonly type: string } & Readonly<Record<string, unknown>>

export const toFrame = (event: StreamEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
