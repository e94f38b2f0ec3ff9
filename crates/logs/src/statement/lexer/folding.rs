//! Lists and rows: what is folded when a literal, a parenthesis, a comma or anything else comes.

use super::{Last, Lexer};
use crate::statement::fold::{Counted, Fold, Place, Rows, fold};
use crate::statement::literal::{Kind, Literal};

impl Lexer {
    pub(super) fn literal(&mut self, literal: Literal, last: Last) {
        let slot = self.slots;
        self.literal_place();
        self.literals.push(Literal { slot, ..literal });
        self.last = last;
    }

    pub(super) fn literal_place(&mut self) {
        match self.fold {
            Fold::None | Fold::List { .. } | Fold::Row { .. } | Fold::NextRow { .. } => {}
            _ => self.other(),
        }
        self.gap();
        self.template.push(b'?');
        self.slots += 1;
    }

    pub(super) fn open(&mut self) {
        let here = self.place();
        match &mut self.fold {
            Fold::In => {
                self.fold = Fold::List {
                    begin: here,
                    depth: 1,
                    items: 1,
                };
                self.literals.push(Literal::plain(0, Kind::List));
            }
            Fold::Values => {
                self.fold = Fold::Row { begin: here, depth: 1 };
                self.literals.push(Literal::plain(0, Kind::Rows));
            }
            Fold::List { depth, .. } | Fold::Row { depth, .. } | Fold::NextRow { depth, .. } => *depth += 1,
            &mut Fold::AfterComma { begin, end, rows } => {
                self.fold = Fold::NextRow {
                    begin,
                    end,
                    row: here,
                    depth: 1,
                    rows,
                };
            }
            _ => self.other(),
        }
        self.glues |= self.last == Last::Name;
        self.gap();
        self.template.push(b'(');
        self.glues = true;
        self.depth += 1;
        self.last = Last::Punctuation(b'(');
    }

    pub(super) fn close(&mut self) {
        self.template.push(b')');
        self.glues = false;
        self.depth = self.depth.saturating_sub(1);
        self.last = Last::Name;
        let here = self.place();
        match &mut self.fold {
            Fold::List { begin, depth: 1, items } => {
                let (begin, count) = (*begin, *items);
                self.fold_at(
                    begin,
                    Counted {
                        kind: Kind::List,
                        count,
                        each: 0,
                    },
                );
            }
            Fold::Row { begin, depth: 1, .. } => {
                let literals = here.literals - begin.literals - 1;
                let (begin, rows) = (*begin, Rows::default().and(literals as u32));
                self.fold = Fold::AfterRow { begin, end: here, rows };
            }
            Fold::NextRow {
                begin,
                end,
                row,
                depth: 1,
                rows,
            } => {
                let (begin, end, rows) = (*begin, *end, rows.and((here.literals - row.literals) as u32));
                self.template.truncate(end.template);
                self.fold = Fold::AfterRow { begin, end, rows };
            }
            Fold::List { depth, .. } | Fold::Row { depth, .. } | Fold::NextRow { depth, .. } => *depth -= 1,
            _ => self.other(),
        }
    }

    pub(super) fn comma(&mut self) {
        match &mut self.fold {
            Fold::List { depth: 1, items, .. } => *items += 1,
            Fold::List { .. } | Fold::Row { .. } | Fold::NextRow { .. } => {}
            &mut Fold::AfterRow { begin, end, rows } => self.fold = Fold::AfterComma { begin, end, rows },
            _ => self.other(),
        }
        self.template.push(b',');
        self.glues = false;
        self.last = Last::Punctuation(b',');
    }

    /// A token that no list has, and none that separates rows.
    pub(super) fn other(&mut self) {
        match self.fold {
            Fold::None | Fold::Row { .. } | Fold::NextRow { .. } => {}
            Fold::In | Fold::Values => self.fold = Fold::None,
            Fold::List { begin, .. } => {
                self.literals.remove(begin.literals);
                self.fold = Fold::None;
            }
            Fold::AfterRow { begin, end, rows } | Fold::AfterComma { begin, end, rows } => {
                self.template.truncate(end.template);
                self.end_rows(begin, rows);
            }
        }
    }

    /// The text ended, perhaps because it was cut.
    pub(super) fn end_fold(&mut self) {
        match self.fold {
            Fold::List { begin, items, .. } => {
                self.fold_at(
                    begin,
                    Counted {
                        kind: Kind::List,
                        count: items,
                        each: 0,
                    },
                );
            }
            Fold::Row { begin, .. } => {
                self.literals.remove(begin.literals);
            }
            Fold::NextRow {
                begin, end, row, rows, ..
            } => {
                self.literals.truncate(row.literals);
                self.template.truncate(end.template);
                self.end_rows(begin, rows);
            }
            _ => self.other(),
        }
        self.fold = Fold::None;
    }

    pub(super) fn end_rows(&mut self, begin: Place, rows: Rows) {
        self.has_rows = true;
        if rows.count == 1 {
            self.literals.remove(begin.literals);
            self.fold = Fold::None;
        } else {
            let (count, each) = (rows.count, rows.literals.unwrap_or(0));
            self.fold_at(
                begin,
                Counted {
                    kind: Kind::Rows,
                    count,
                    each,
                },
            );
        }
    }

    pub(super) fn fold_at(&mut self, begin: Place, counted: Counted) {
        fold(&mut self.template, &mut self.literals, begin, counted);
        self.slots = begin.slots + 1;
        self.fold = Fold::None;
    }
}
