/** The API's limits for images and documents, from its public documentation as of 2026-11. */
export interface MediaLimits {
  /** Bytes of one image as it is sent: in base64. */
  readonly imageBytes: number
  readonly imagePixels: number
  /** With more images than this in a request, each may only have `manyImagesPixels` per side. */
  readonly manyImages: number
  readonly manyImagesPixels: number
  readonly imagesPerRequest: number
  readonly documentBytes: number
  readonly documentPages: number
  /** All media of a request together. Leaves room for text below the limit of the body. */
  readonly bytesPerRequest: number
}

export const MEDIA_LIMITS: MediaLimits = {
  imageBytes: 5 * 1024 * 1024,
  imagePixels: 8_000, // each side
  manyImages: 20,
  manyImagesPixels: 2_000,
  imagesPerRequest: 100,
  documentBytes: 32 * 1024 * 1024,
  documentPages: 100,
  bytesPerRequest: 24 * 1024 * 1024,
}

/** The limit for the body of a request to the Messages API. */
export const REQUEST_BYTES = 32 * 1024 * 1024
