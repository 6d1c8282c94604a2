// What tests of commands about other books share: a service, a folder for files, and books that are right at the end.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { Api, newId } from './api.ts';

export const lines = (...some: string[]) => `${some.join('\n')}\n`;
export const HEAD = 'wallet,customer,balance';

export class Books {
  api!: Api;
  folder!: string;

  constructor() {
    beforeAll(async () => {
      this.api = await Api.start();
      this.folder = await mkdtemp(join(tmpdir(), 'recoup-books-'));
    });
    afterAll(async () => {
      expect((await this.api.service.recoup.verify()).problems).toEqual([]);
      await this.api.close();
      await rm(this.folder, { recursive: true });
    });
  }

  /** A file with that text; its path. */
  readonly file = async (text: string | Uint8Array): Promise<string> => {
    const path = join(this.folder, `${newId('file')}.csv`);
    await writeFile(path, text);
    return path;
  };
}
