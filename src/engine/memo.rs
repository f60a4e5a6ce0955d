//! Values that other modules derive from an engine, cached with it; the engine does not depend on
//! their types.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::profile::Arm;

type Id = (TypeId, u64, Arm);

/// Values by their type, a number and an arm. They are few: one for each wire and arm in use.
#[derive(Default)]
pub(super) struct Memo(Mutex<Vec<(Id, Arc<dyn Any + Send + Sync>)>>);

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memo")
    }
}

impl Memo {
    /// The value of a key. If several threads create it at once, the first one's value is stored
    /// and returned to all.
    pub(super) fn get_or_make<T: Any + Send + Sync>(&self, key: u64, arm: Arm, make: impl FnOnce() -> T) -> Arc<T> {
        let id = (TypeId::of::<T>(), key, arm);
        if let Some(known) = find_value(&self.lock_values(), id) {
            return known;
        }
        // Created without the lock, so that `make` may request other values.
        let made = Arc::new(make());
        let mut values = self.lock_values();
        find_value(&values, id).unwrap_or_else(|| {
            values.push((id, made.clone()));
            made
        })
    }

    fn lock_values(&self) -> MutexGuard<'_, Vec<(Id, Arc<dyn Any + Send + Sync>)>> {
        // Only a push happens under this lock, so the values of a poisoned lock are valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find_value<T: Any + Send + Sync>(values: &[(Id, Arc<dyn Any + Send + Sync>)], id: Id) -> Option<Arc<T>> {
    values.iter().find(|(own, _)| *own == id).and_then(|(_, value)| value.clone().downcast().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_for_each_type_and_key() {
        let memo = Memo::default();
        let one = memo.get_or_make(1, Arm::Full, || 5_u8);
        assert!(Arc::ptr_eq(&one, &memo.get_or_make(1, Arm::Full, || 6_u8)));
        assert_eq!((*memo.get_or_make(2, Arm::Full, || 7_u8), *memo.get_or_make(1, Arm::Full, || 8_u16)), (7, 8));
        assert_eq!(*memo.get_or_make(1, Arm::Lean, || 6_u8), 6);
        let outer = memo.get_or_make(3, Arm::Full, || *memo.get_or_make(4, Arm::Full, || 9_u8) + 1);
        assert_eq!(*outer, 10, "what makes a value may ask for another");
    }
}
