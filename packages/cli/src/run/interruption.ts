/**
 * Interruptible work: the first Ctrl-C or SIGTERM interrupts it, the second ends the process. The process stays alive until the work is
 * finished.
 */

/** Interval of a timer that does nothing except keep the process alive. */
const KEEP_ALIVE_MS = 2 ** 30
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const // the exit codes that shells use for these signals

export interface Interruption {
  readonly signal: AbortSignal
  /** Restores the default signal handling and lets the process end. */
  stop(): void
}

export function interruptible(): Interruption {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(SIGNALS[name as keyof typeof SIGNALS])
    controller.abort()
  }
  const names = Object.keys(SIGNALS) as readonly (keyof typeof SIGNALS)[]
  for (const name of names) process.on(name, onSignal)
  const keeping = setInterval(() => undefined, KEEP_ALIVE_MS)
  return {
    signal: controller.signal,
    stop: () => {
      clearInterval(keeping)
      for (const name of names) process.off(name, onSignal)
    },
  }
}
