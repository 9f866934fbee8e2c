//! Derives `Datum` and `Argument` of [`trueline::history`](https://docs.rs/trueline/latest/trueline/history/), which
//! re-exports both macros under the names of the traits.
//!
//! The crate has no dependencies: `parse` reads the parts of a type that the macros need, and
//! `expand` fills these parts into templates. The module `history::derived` of trueline decides how
//! values are represented.

mod expand;
mod parse;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// An error for input that the macros do not support. The message says what to write instead.
struct Refused {
    span: Span,
    message: String,
}

impl Refused {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// Returns `::core::compile_error! { "message" }` at the span.
    fn into_tokens(self) -> TokenStream {
        let colon = |spacing| TokenTree::from(Punct::new(':', spacing));
        let name = |name| TokenTree::from(Ident::new(name, self.span));
        let message = TokenTree::from(Literal::string(&self.message));
        let tokens = [
            colon(Spacing::Joint),
            colon(Spacing::Alone),
            name("core"),
            colon(Spacing::Joint),
            colon(Spacing::Alone),
            name("compile_error"),
            Punct::new('!', Spacing::Alone).into(),
            Group::new(Delimiter::Brace, message.into()).into(),
        ];
        let spanned = tokens.into_iter().map(|mut token| {
            token.set_span(self.span);
            token
        });
        spanned.collect()
    }
}

/// Implements `trueline::history::Datum`; see the trait.
#[proc_macro_derive(Datum, attributes(datum))]
pub fn derive_datum(input: TokenStream) -> TokenStream {
    parse::item(input, "Datum").map_or_else(Refused::into_tokens, |item| expand::datum(&item))
}

/// Implements `trueline::history::Argument`, for types that derive `Datum`; see the trait.
#[proc_macro_derive(Argument)]
pub fn derive_argument(input: TokenStream) -> TokenStream {
    parse::item(input, "Argument").map_or_else(Refused::into_tokens, |item| expand::argument(&item))
}
