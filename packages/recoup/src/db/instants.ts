// Instants of answers as Dates.

export const dateOr = (text: string | null): Date | null => (text === null ? null : new Date(text));
